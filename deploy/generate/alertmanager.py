"""Alertmanager: who hears of what, how alerts are grouped, and which ones explain others.

Rules:
- A route a severity that has a receiver; what has none is heard by nobody, and still explains others.
- One message for an alert, however many roles and surfaces it fires for.
- What another alert explains is not sent: a table of the alerts says so (`explains`).
"""

from typing import Any, Final

from deploy.generate.files import yaml_text
from deploy.generate.values import Values
from metrics.alerts import ALERTS, Alert, Same

NOBODY: Final = "nobody"
OURS: Final = 'alertname=~"Lara.+"'


def alertmanager_yaml(values: Values) -> str:
    """deploy/alertmanager/alertmanager.yml."""
    own = values.notify
    return yaml_text(
        {
            "route": {
                "receiver": NOBODY,
                "group_by": ["alertname"],
                "group_wait": own.group_wait,
                "group_interval": own.group_interval,
                "routes": [_route(severity, values) for severity in own.receivers],
            },
            "inhibit_rules": inhibitions(),
            "receivers": [{"name": NOBODY}, *(_receiver(*one) for one in own.receivers.items())],
        }
    )


def _route(severity: str, values: Values) -> dict[str, Any]:
    return {
        "receiver": severity,
        "matchers": [OURS, f'severity="{severity}"'],
        "repeat_interval": values.notify.repeat_interval[severity],
    }


def _receiver(severity: str, url: str) -> dict[str, Any]:
    return {"name": severity, "webhook_configs": [{"url": url, "send_resolved": severity != "none"}]}


def inhibitions() -> list[dict[str, Any]]:
    """Of every alert that explains others: which, and where what is the same."""
    return [_inhibition(alert, same) for alert in ALERTS.values() for same in alert.explains]


def _inhibition(alert: Alert, same: Same) -> dict[str, Any]:
    targets = [f'alertname=~"{"|".join(same.names)}"'] if same.names else [OURS]
    kind = [f'kind="{same.kind.value}"'] if same.kind else []
    return {
        "source_matchers": [f'alertname="{alert.name}"'],
        "target_matchers": [*targets, *kind],
        "equal": list(same.labels),
    }
