"""`lara`: the only entry point. What there is to run and to ask.

Rules:
- Figures go to standard output; progress, intake counts and logs to standard error.
- A command is a few lines in a `cli_….py` beside this file, and a module of its own that does the work.
"""

from typing import Final

import click

from streams.commands import cli_ask, cli_evaluate, cli_keep, cli_run

COMMANDS: Final = (
    cli_run.demo,
    cli_run.simulate,
    cli_run.topics,
    cli_run.worker,
    cli_run.exporter,
    cli_run.canary,
    cli_run.replay,
    cli_ask.backtest,
    cli_ask.report,
    cli_evaluate.study,
    cli_evaluate.evaluate,
    cli_ask.explain,
    cli_evaluate.worst,
    cli_evaluate.sample,
    cli_evaluate.labels,
    cli_evaluate.export,
    cli_ask.doctor,
    cli_evaluate.contract,
    cli_keep.audit,
    cli_keep.rebuild,
    cli_keep.deadletters,
    cli_keep.watermarks,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="lara")
def main() -> None:
    """Does retrieval inside an AI assistant work? Live, exact figures from its events.

    Start with `lara demo`, or with `lara backtest FILE` on a log of your own. Settings come from the
    environment (LARA_…) and from lara.toml; docs/settings.md lists them.
    """


for command in COMMANDS:
    main.add_command(command)
