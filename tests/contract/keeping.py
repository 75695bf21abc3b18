"""What a version of the contract keeps, and how a new one is kept: `python -m tests.contract.keeping v2`.

Of each version there is a folder:
- `events.jsonl`: events as sent, of each type, with every field in every form that the schemas allow;
- `digests.jsonl`: type, identity and digest of each, in the same order;
- `story.jsonl`: events, and records that are none, which together make every kind of output with every field;
- `outputs.jsonl`: the records that they make;
- `schemas/`: what `lara contract --output` wrote.

Events and story are written by hand; the command writes the rest, and never over a file that is there.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from aiokafka.structs import ConsumerRecord

from attribution.derived import outputs_of
from attribution.events import identity, type_of
from attribution.parsing import Rejected, parse
from attribution.semantics import Semantics
from streams.publisher import Letter, dead_letter, letters_of
from tests.docs_pages import contract_files
from tests.properties import running

HERE = Path(__file__).parent
VERSIONS = sorted(folder.name for folder in HERE.glob("v*") if folder.is_dir())
SEMANTICS = Semantics()


def lines(version: str, name: str) -> list[bytes]:
    """The lines of a kept file."""
    return (HERE / version / f"{name}.jsonl").read_bytes().splitlines()


def values(version: str, name: str) -> list[Any]:
    """The JSON values of a kept file's lines."""
    return [json.loads(line) for line in lines(version, name)]


def schemas(version: str) -> dict[str, Any]:
    """The kept schemas by type or topic."""
    folder = HERE / version / "schemas"
    return {
        path.name.split(".")[0]: json.loads(path.read_text("utf-8")) for path in folder.glob("*.schema.json")
    }


def digest_of(line: bytes) -> dict[str, str]:
    """What an event is now, in the words of `digests.jsonl`."""
    event = parse(line)
    if isinstance(event, Rejected):
        return {"type": event.event_type, "rejected": event.detail}
    return {"type": type_of(event), "identity": identity(event), "digest": event.digest.hex()}


def records_of(sent: list[bytes]) -> list[dict[str, Any]]:
    """All that is said of some records that arrive one by one, the last first, as `outputs.jsonl` holds it."""
    store = running.settle_in_memory([[event] for event in reversed(running.accepted(sent))], SEMANTICS)
    corrections = {due.key: due.correction for due in asyncio.run(store.due(len(sent)))}
    letters = [
        letter
        for key, entity in sorted(store.entities().items())
        for letter in letters_of(outputs_of(key, entity, SEMANTICS), entity, corrections.get(key))
    ]
    for offset, value in enumerate(sent):
        found = parse(value)
        if isinstance(found, Rejected):
            record = ConsumerRecord("lara.actions", 0, offset, 0, 0, None, value, None, 0, 0, ())
            letters.append(dead_letter(record, found, with_payload=True))
    return [_kept(letter) for letter in letters]


def _kept(letter: Letter) -> dict[str, Any]:
    return {"topic": letter.topic, "key": letter.key.decode(), "record": json.loads(letter.value)}


def keep(version: str) -> None:
    """Write what is not there yet."""
    made = {
        "digests.jsonl": _json_lines(map(digest_of, lines(version, "events"))),
        "outputs.jsonl": _json_lines(records_of(lines(version, "story"))),
        **{f"schemas/{name}": text for name, text in contract_files().items()},
    }
    for name, text in made.items():
        path = HERE / version / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_text(text, "utf-8")


def _json_lines(rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    keep(sys.argv[1])
