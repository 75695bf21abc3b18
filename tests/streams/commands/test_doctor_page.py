"""`lara doctor` for people: readable at 100 columns, with nothing rounded away."""

import os

import pytest
from click.testing import CliRunner

from streams.commands.cli import main
from tests.building import encoded, placement, retrieval


@pytest.fixture
def doctor(monkeypatch, tmp_path):
    """Runs the command over a file with these records, without a setting of the machine."""
    for name in [name for name in os.environ if name.startswith("LARA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def run(*sent):
        path = tmp_path / "events.jsonl"
        path.write_bytes(b"\n".join(encoded(one) for one in sent))
        return CliRunner(env={"COLUMNS": "100"}).invoke(main, ["doctor", str(path)])

    return run


def lines(result):
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.stdout.splitlines() if line.strip()]


@pytest.mark.slow
def test_tables_are_readable_at_100_columns(doctor):
    """No line is cut, no number is lost, and the findings come last."""
    found = lines(doctor(*(retrieval(f"search-{number}", surface="moon") for number in range(1234))))
    assert any("1,234" in line and "returned_asset_ids" in line for line in found)
    assert found[-1] == "problems 0 · warnings 2 · notes 2"
    assert max(map(len, found)) <= 100
    meant = ("(lara_…)", "select, …)", "`synthetic_…`")
    assert not any("…" in line for line in found if not any(one in line for one in meant))


def test_what_a_producer_sent_is_printed_as_it_is(doctor):
    """Square brackets are no markup."""
    found = doctor(retrieval("[red]r-1[/red]", surface="[/bold]", returned=["a1", None]))
    assert "[red]r-1[/red]" in found.stdout
    assert "[/bold] 1" in found.stdout


@pytest.mark.slow
def test_a_share_reads_as_all_or_nothing_only_if_it_is(doctor):
    """One of 3,000 without a list is not 0.0 % missing."""
    sent = [retrieval(f"search-{number}") for number in range(2999)]
    shown = lines(doctor(*sent, retrieval("search-x", returned=None)))
    assert next(line for line in shown if line.startswith("returned_asset_ids")).endswith(" 0.1")
    assert next(line for line in shown if "2,999" in line).split()[-2:] != ["100.0"]
    assert any("99.9" in line for line in shown if "2,999" in line)


def test_types_that_were_not_sent_have_no_column(doctor):
    """Nor have fields that none of the records can have."""
    shown = lines(doctor(retrieval("search-1"), placement(source_retrieval_id="search-1")))
    start = shown.index("Optional fields, missing in %")
    assert shown[start + 1].split() == ["retrieval", "placement"]
    assert not any(line.startswith("reached") for line in shown)


def test_values_that_are_many_are_counted(doctor):
    """The five that came most often, then how many more there are."""
    found = doctor(*(retrieval(f"search-{n}", surface=f"moon-{n}") for n in range(8)))
    assert "moon-0 1" in found.stdout and "and 3 more" in found.stdout.replace("\n", " ").replace("  ", " ")
