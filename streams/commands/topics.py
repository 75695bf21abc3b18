"""`lara topics create`."""

import click

from streams.settings import Settings
from streams.topics import DAY_MS, FOREVER, create_topics


def retention_ms(settings: Settings) -> int:
    """How long topics should keep records, as Kafka has it."""
    days = settings.retention_days
    return FOREVER if days < 0 else days * DAY_MS


async def create(settings: Settings) -> None:
    """Create what is missing and say what is there."""
    found = await create_topics(
        settings.brokers, settings.prefix, settings.partitions, retention_ms(settings), settings.replication
    )
    for name in found.created:
        click.echo(f"created  {name}")
    for name in found.existing:
        click.echo(f"exists   {name}")
    for sentence in found.differing:
        click.echo(f"differs  {sentence}")
