"""Where topics are missing, or not as wanted."""

import pytest

from streams.commands.doctor_findings import NOTE, PROBLEM, WARNING
from streams.commands.doctor_topics import topic_findings
from streams.settings import Settings
from streams.topics import DAY_MS, FOREVER, Existing, wanted_topics

SETTINGS = Settings(replication=3)


def topics(changed=None, of=(), replicas=3, partitions=8):
    """All topics as wanted, some of them changed."""
    wanted = wanted_topics("lara", 44 * DAY_MS, 3)
    return [
        Existing(
            name,
            partitions,
            replicas,
            {**configuration, **(changed or {})} if name in of else configuration,
        )
        for name, configuration in wanted.items()
    ]


def grades(existing, settings=SETTINGS):
    return {one.name: (one.severity, one.examples) for one in topic_findings(existing, settings)}


def test_topics_as_wanted_have_no_finding():
    """As `lara topics create` makes them with three replicas."""
    assert grades(topics()) == {}


def test_missing_topics_are_named():
    """All of them, in one finding."""
    assert grades(topics()[2:]) == {"topics_missing": (PROBLEM, ("lara.prompts", "lara.retrievals"))}
    assert set(grades([])) == {"topics_missing"}


def test_input_topics_need_the_same_number_of_partitions():
    """Outputs may have any."""
    first, *others = topics()
    assert grades([first._replace(partitions=3), *others])["topics_uneven"][0] == PROBLEM
    assert grades([*topics()[:-1], topics()[-1]._replace(partitions=3)]) == {}


@pytest.mark.parametrize(
    ("replicas", "least", "expected"),
    [
        (1, "1", {"topics_single": WARNING}),
        (3, "2", {}),
        (3, "1", {"topics_insync_low": WARNING}),
        (3, "3", {"topics_insync_high": WARNING}),
        (2, "1", {}),
        (2, "2", {"topics_insync_high": WARNING}),
    ],
)
def test_copies_are_judged_by_themselves(replicas, least, expected):
    """Whatever the setting says: an operator may have made the topics."""
    names = [one.name for one in topics()]
    found = grades(topics({"min.insync.replicas": least}, names, replicas))
    assert {name: severity for name, (severity, _) in found.items()} == expected
    assert all(len(examples) == 8 for _, examples in found.values())


@pytest.mark.parametrize(
    ("retention_ms", "topic", "expected"),
    [
        (FOREVER, "lara.actions", {"topics_retention_other": NOTE}),
        (45 * DAY_MS, "lara.actions", {"topics_retention_other": NOTE}),
        (43 * DAY_MS, "lara.actions", {"topics_retention": WARNING}),
        (30 * DAY_MS, "lara.actions", {"topics_retention": WARNING}),
        (29 * DAY_MS, "lara.actions", {"topics_retention": PROBLEM}),
        (DAY_MS, "lara.deadletters", {"topics_retention_other": NOTE}),
    ],
)
def test_input_must_outlast_the_horizon_and_an_outage(retention_ms, topic, expected):
    """Dead letters may go earlier."""
    found = grades(topics({"retention.ms": str(retention_ms)}, [topic]))
    assert {name: severity for name, (severity, _) in found.items()} == expected
    assert all(examples == (topic,) for _, examples in found.values())


@pytest.mark.parametrize(
    ("setting", "value", "topic", "name", "severity"),
    [
        ("cleanup.policy", "delete", "lara.outcomes", "topics_cleanup_policy", PROBLEM),
        ("cleanup.policy", "compact", "lara.actions", "topics_cleanup_policy", PROBLEM),
        ("message.timestamp.type", "LogAppendTime", "lara.actions", "topics_message_timestamp_type", WARNING),
        (
            "message.timestamp.before.max.ms",
            "1",
            "lara.actions",
            "topics_message_timestamp_before_max_ms",
            WARNING,
        ),
        (
            "message.timestamp.after.max.ms",
            "1",
            "lara.actions",
            "topics_message_timestamp_after_max_ms",
            NOTE,
        ),
        ("segment.ms", "1", "lara.actions", "topics_segment_ms", NOTE),
    ],
)
def test_each_setting_that_differs_is_one_finding(setting, value, topic, name, severity):
    """With what was found and what is wanted."""
    (found,) = topic_findings(topics({setting: value}, [topic]), SETTINGS)
    assert (found.name, found.severity, found.examples) == (name, severity, (topic,))
    assert f"{setting} is {value}, wanted" in found.what


def test_a_setting_of_kafka_s_own_is_nobody_s_business():
    """Only what the table has is compared."""
    assert grades(topics({"compression.type": "zstd"}, ["lara.actions"])) == {}
