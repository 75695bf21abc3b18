"""Text of the generated files: YAML that people can read, with a line that says where it comes from."""

from collections.abc import Iterable
from typing import Any, Final

import yaml

from deploy.generate import alerts, rules
from deploy.generate.cases import Look, cases_of_a_share
from deploy.generate.plain_cases import PLAIN_CASES
from deploy.generate.values import Prometheus, Values
from metrics.alerts import Alert
from metrics.catalogue import CATALOGUE

PIPELINE: Final = "lara-pipeline"
WRITTEN_BY: Final = (
    "# Written by `python -m deploy.generate` from metrics/ and deploy/values.yaml: do not edit.\n"
)


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML comes without types
    """Texts of several lines as blocks."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Lists stand further in than their key."""
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _text)


def yaml_text(content: object, note: str = "") -> str:
    """A generated YAML file."""
    body = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    return f"{WRITTEN_BY}{note}{body}"


def rules_yaml(values: Values) -> str:
    """deploy/prometheus/rules.yaml: what alerts compare."""
    return yaml_text({"groups": [_group(*one) for one in rules.groups(values).items()]}, figures_note())


def shares_yaml(_: Values) -> str:
    """deploy/prometheus/shares.yaml: what is added up over labels."""
    return yaml_text({"groups": [_group("lara-shares", rules.added_up())]}, figures_note())


def _group(name: str, records: Iterable[rules.Record]) -> dict[str, Any]:
    return {"name": name, "rules": [{"record": one.name, "expr": one.expression} for one in records]}


def figures_note() -> str:
    """The figures of the catalogue, so that whoever changes one looks here too."""
    exported = [figure.name for figure in CATALOGUE if figure.exported.live or figure.exported.settled]
    lines = [f"# The exporter prints {len(exported)} figures, read here or not:"]
    for name in exported:
        if len(lines[-1]) + len(name) > 105:
            lines.append("#")
        lines[-1] += f" {name}"
    return "\n".join(lines) + "\n"


def alerts_yaml(values: Values) -> str:
    """deploy/prometheus/alerts.yaml."""
    content = [{"name": name, "rules": found} for name, found in alerts.groups(values).items()]
    return yaml_text({"groups": [_group(PIPELINE, rules.of_the_pipeline()), *content]})


def _addresses(own: Prometheus, name: str) -> dict[str, Any]:
    """Where Prometheus finds what is called so: every address of a name, or the addresses as they are."""
    targets = own.targets[name]
    if own.discovery == "static":
        return {"static_configs": [{"targets": targets}]}
    parts = (target.split(":") for target in targets)
    return {"dns_sd_configs": [{"names": [host], "type": "A", "port": int(port)} for host, port in parts]}


def prometheus_yaml(values: Values) -> str:
    """deploy/prometheus/prometheus.yml."""
    own = values.prometheus
    scraped = [{"job_name": job, **_addresses(own, name)} for name, job in own.jobs.items()]
    return yaml_text(
        {
            "global": {
                "scrape_interval": own.scrape_interval,
                "scrape_timeout": own.scrape_interval,
                "evaluation_interval": own.evaluation_interval,
            },
            "rule_files": ["shares.yaml", "rules.yaml", "alerts.yaml"],
            "alerting": {"alertmanagers": [_addresses(own, "alertmanager")]},
            "scrape_configs": scraped,
        }
    )


def tests_yaml(alert: Alert, values: Values) -> str:
    """deploy/prometheus/tests/NAME.yaml, for `promtool test rules`."""
    found = tuple(cases_of_a_share(alert, values)) if alert.watches else PLAIN_CASES[alert.name]
    tests = [
        {
            "name": case.name,
            "interval": "1m",
            "input_series": [{"series": name, "values": run} for name, run in case.series.items()],
            "alert_rule_test": [_look(alert, values, look) for look in case.looks],
        }
        for case in found
    ]
    recorded = rules.groups(values) if alert.watches else {}
    shared = {
        "rule_files": [*(["../rules.yaml"] if recorded else []), "../alerts.yaml"],
        "evaluation_interval": f"{found[0].step}m",
        "group_eval_order": [*recorded, PIPELINE, *alerts.groups(values)],
    }
    return yaml_text({**shared, "tests": tests})


def _look(alert: Alert, values: Values, look: Look) -> dict[str, Any]:
    own, told = alerts.labels(alert), alerts.annotations(alert, values)
    return {
        "eval_time": f"{look.minute}m",
        "alertname": alert.name,
        "exp_alerts": [
            {"exp_labels": {**own, **labels}, "exp_annotations": {**told, "summary": text}}
            for labels, text in look.firing
        ],
    }
