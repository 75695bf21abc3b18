"""`make test` and `make prove`: the suites one after the other, with their seconds. Ends with the worst code.

`test` is what every change runs, within 20 minutes on 2 cores; `prove` is what it leaves out, within 60.
"""

import subprocess
import sys
import time

PYTEST = [sys.executable, "-m", "pytest", "-q"]
TWO = ["-n", "2"]  # each with servers of its own; they wait more than they work
SUITES: dict[str, list[tuple[str, list[str]]]] = {
    "test": [
        ("style and types", ["make", "--no-print-directory", "lint"]),
        ("pure", [*PYTEST, "-n", "auto", "-m", "not live and not prove"]),
        ("live", [*PYTEST, *TWO, "-m", "live and not prove"]),
        (
            "demo",
            [
                sys.executable,
                "-c",
                "from streams.commands.cli import main; main()",
                "demo",
                "--seconds",
                "15",
            ],
        ),
    ],
    "prove": [
        ("pure", [*PYTEST, *TWO, "--dist", "loadgroup", "-m", "prove and not live"]),
        ("live", [*PYTEST, *TWO, "-m", "prove and live"]),
    ],
}


def main(which: str) -> int:
    """Run the suites of one name; the seconds of each are printed at the end."""
    worst, lines = 0, []
    for name, command in SUITES[which]:
        print(f"=== {name}", flush=True)
        started = time.monotonic()
        code = subprocess.run(command).returncode
        worst = max(worst, abs(code))
        lines.append(
            f"{name:<16} {time.monotonic() - started:7.1f} s   {'passed' if not code else f'code {code}'}"
        )
    print("\n".join(["=== seconds a suite", *lines]), flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
