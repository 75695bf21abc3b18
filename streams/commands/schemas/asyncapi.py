"""The AsyncAPI 3.0 document: the topics, what lara receives and sends on them, and under which keys.

Rules:
- Names come from `streams/topics.py`, payloads from the JSON Schemas: nothing is described here twice.
- Operations are lara's own: it receives events and sends outputs. A producer does the opposite.
- The document stands alone: it refers to nothing outside of itself.
"""

import inspect
from collections.abc import Mapping
from typing import Any, Final

from attribution.events import EVENT_TYPES
from attribution.outputs import ATTRIBUTIONS, DEADLETTERS, OUTCOMES, Attribution, Outcome
from streams.commands.replay import KINDS
from streams.commands.schemas.events import Schema, event_schemas
from streams.commands.schemas.examples import EXAMPLES
from streams.commands.schemas.outputs import output_schemas
from streams.topics import TOPICS, Topic, configuration

CONTRACT_VERSION: Final = "1.0.0"  # of what is sent, not of the program: a break raises the first number
KAFKA_BINDING: Final = "0.5.0"
JSON: Final = "application/json"
SESSION_KEY: Final = "Free, since nothing depends on it; the session keeps its events in one partition."
KEYS: Final[Mapping[str, str]] = {
    ATTRIBUTIONS: "`action_id`",
    OUTCOMES: "`retrieval_id`",
    DEADLETTERS: "`sha256`; of an event that lost its identity `type:id:digest`",
}
MEANINGS: Final[Mapping[str, str]] = {
    **{name: inspect.getdoc(event) or "" for name, event in EVENT_TYPES.items()},
    ATTRIBUTIONS: inspect.getdoc(Attribution) or "",
    OUTCOMES: inspect.getdoc(Outcome) or "",
    DEADLETTERS: "A record that is no event, came too late, or lost its id to another event.",
}
DESCRIPTION: Final = (
    "Events of an AI assistant in, the attribution of what they did with its retrievals out. Events may come "
    "in any order and more than once. Outputs are sent at least once: of several records with one key, that "
    "with the greatest `version` is the truth."
)


def schemas() -> dict[str, Schema]:
    """Every schema: of the events by type, of the outputs by topic."""
    return {**event_schemas(), **output_schemas()}


def document(prefix: str, retention_ms: int) -> dict[str, Any]:
    """The AsyncAPI document of a deployment with these topics."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "lara",
            "version": CONTRACT_VERSION,
            "description": DESCRIPTION,
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": JSON,
        "servers": {"kafka": _server()},
        "channels": {topic.kind: _channel(topic, prefix, retention_ms) for topic in TOPICS},
        "operations": {_operation_name(topic): _operation(topic, prefix) for topic in TOPICS},
        "components": {
            "messages": {message_of(topic): _message(topic) for topic in TOPICS},
            "schemas": schemas(),
        },
    }


def _server() -> dict[str, Any]:
    return {
        "host": "{host}:{port}",
        "protocol": "kafka",
        "description": "Any broker of the cluster.",
        "variables": {
            "host": {"default": "localhost", "description": "Name or address of a broker."},
            "port": {"default": "9092", "description": "Port of the broker."},
        },
    }


def message_of(topic: Topic) -> str:
    """The message of a topic: an event's type, or the topic itself."""
    return next((event_type for event_type, kind in KINDS.items() if kind == topic.kind), topic.kind)


def _channel(topic: Topic, prefix: str, retention_ms: int) -> dict[str, Any]:
    message, settings = message_of(topic), configuration(topic, retention_ms, 1)
    kept = {"retention.ms": retention_ms} if "retention.ms" in settings else {}
    return {
        "address": f"{prefix}.{topic.kind}",
        "description": MEANINGS[message],
        "servers": [{"$ref": "#/servers/kafka"}],
        "messages": {message: {"$ref": f"#/components/messages/{message}"}},
        "bindings": _kafka(topicConfiguration={"cleanup.policy": [topic.cleanup], **kept}),
    }


def _operation_name(topic: Topic) -> str:
    return f"{'receive' if topic.is_input else 'send'}{topic.kind.capitalize()}"


def _operation(topic: Topic, prefix: str) -> dict[str, Any]:
    group = {"bindings": _kafka(groupId={"type": "string", "enum": [prefix]})}
    return {
        "action": "receive" if topic.is_input else "send",
        "channel": {"$ref": f"#/channels/{topic.kind}"},
        "messages": [{"$ref": f"#/channels/{topic.kind}/messages/{message_of(topic)}"}],
        **(group if topic.is_input else {}),
    }


def _message(topic: Topic) -> dict[str, Any]:
    name = message_of(topic)
    key = {"type": "string", "description": SESSION_KEY if topic.is_input else KEYS[name]}
    return {
        "name": name,
        "title": name,
        "summary": MEANINGS[name],
        "contentType": JSON,
        "payload": {"$ref": f"#/components/schemas/{name}"},
        "bindings": _kafka(key=key),
        "examples": [{"name": "example", "payload": EXAMPLES[name]}],
    }


def _kafka(**binding: Any) -> dict[str, Any]:
    return {"kafka": {**binding, "bindingVersion": KAFKA_BINDING}}
