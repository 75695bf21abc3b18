"""`lara contract`: the contract for programs, as JSON Schemas or as one AsyncAPI document.

docs/contract/ holds what `files` gives with the default settings; a test compares.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from streams.commands.schemas.asyncapi import document, schemas
from streams.settings import Settings
from streams.topics import DAY_MS, FOREVER

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
ASYNCAPI: Final = "asyncapi"
JSON_SCHEMA: Final = "json-schema"


def contract(settings: Settings, form: str, name: str | None, output: Path | None) -> None:
    """Print the contract, or write it into a folder and say which files."""
    days = settings.retention_days
    retention_ms = FOREVER if days < 0 else days * DAY_MS
    if output is None:
        click.echo(_printed(form, name, settings.prefix, retention_ms), nl=False)
        return
    output.mkdir(parents=True, exist_ok=True)
    for file, text in files(form, name, settings.prefix, retention_ms).items():
        (output / file).write_text(text, "utf-8")
        click.echo(str(output / file))


def files(form: str, name: str | None, prefix: str, retention_ms: int) -> dict[str, str]:
    """File name → text."""
    if form == ASYNCAPI:
        return {"asyncapi.json": _pretty(document(prefix, retention_ms))}
    return {f"{one}.schema.json": _pretty(schema) for one, schema in _json_schemas(name).items()}


def _printed(form: str, name: str | None, prefix: str, retention_ms: int) -> str:
    if form == ASYNCAPI:
        return _pretty(document(prefix, retention_ms))
    found = _json_schemas(name)
    return _pretty(found if name is None else found[name])


def _json_schemas(name: str | None) -> dict[str, dict[str, Any]]:
    return {one: {"$schema": DIALECT, **schema} for one, schema in schemas().items() if name in (None, one)}


def _pretty(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
