"""`lara topics create`."""

import click

from streams.settings import Settings
from streams.topics import DAY_MS, FOREVER, create_topics


async def create(settings: Settings) -> None:
    """Create what is missing and say what is there."""
    days = settings.retention_days
    retention = FOREVER if days < 0 else days * DAY_MS
    found = await create_topics(
        settings.bootstrap, settings.prefix, settings.partitions, retention, settings.replication
    )
    for name in found.created:
        click.echo(f"created  {name}")
    for name in found.existing:
        click.echo(f"exists   {name}")
    for sentence in found.differing:
        click.echo(f"differs  {sentence}")
