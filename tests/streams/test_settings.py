"""Settings: where they come from, and one clear sentence for each mistake."""

import os

import pytest

from attribution.definitions import DEFAULT_DEFINITIONS
from attribution.semantics import Exclusion, Semantics
from streams.settings import Settings, SettingsError, published, read_settings, settings_markdown


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No setting of the machine and no lara.toml of the working directory."""
    for name in [name for name in os.environ if name.startswith("LARA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def toml(monkeypatch, tmp_path):
    """Writes the file that LARA_CONFIG names."""

    def write(text, name="own.toml"):
        path = tmp_path / name
        path.write_text(text)
        monkeypatch.setenv("LARA_CONFIG", str(path))
        return path

    return write


def complaint():
    with pytest.raises(SettingsError) as raised:
        read_settings()
    return str(raised.value)


# --- where they come from ---------------------------------------------------------------------------


def test_without_anything_the_defaults_hold():
    """A deployment on one machine needs no setting at all."""
    found = read_settings()
    assert (found.bootstrap, found.redis_url, found.prefix) == (
        "127.0.0.1:9092",
        "redis://127.0.0.1:6379",
        "lara",
    )
    assert found.semantics == Semantics()


def test_the_environment_outranks_the_file_and_arguments_outrank_both(monkeypatch, toml):
    """What is given nearest counts; None is not given."""
    toml('prefix = "of-file"\nshards = 3\npartitions = 5\n')
    monkeypatch.setenv("LARA_PREFIX", "of-environment")
    monkeypatch.setenv("LARA_SHARDS", "4")
    found = read_settings(shards=6, prefix=None)
    assert (found.prefix, found.shards, found.partitions) == ("of-environment", 6, 5)


def test_lara_toml_is_read_where_it_lies(tmp_path):
    """In the working directory, without any variable."""
    (tmp_path / "lara.toml").write_text('prefix = "here"\n')
    assert read_settings().prefix == "here"


def test_settings_that_change_figures_make_the_meaning(toml):
    """Surfaces, definitions and exclusions, and nothing else."""
    toml(
        'surfaces = ["chat", "app"]\nsynthetic_session_prefixes = ["probe-"]\nsynthetic_user_ids = ["robot"]\n'
        'synthetic_queries = ["insulin"]\nprefix = "other"\nmaturity_minutes = 10\n'
    )
    expected = Semantics(surfaces=("chat", "app"), exclusion=Exclusion(("probe-",), ("robot",), ("insulin",)))
    assert read_settings().semantics == expected


def test_the_state_has_the_name_of_the_deployment_unless_it_has_one_of_its_own(monkeypatch):
    """One setting switches to a rebuilt state, and back; the topics stay."""
    assert read_settings(prefix="shop").state_name == "shop"
    monkeypatch.setenv("LARA_STATE_PREFIX", "shop-rebuilt")
    found = read_settings(prefix="shop")
    assert (found.state_name, found.prefix) == ("shop-rebuilt", "shop")


def test_settings_are_frozen():
    """They are read once, at the start."""
    with pytest.raises(ValueError, match="frozen"):
        read_settings().prefix = "other"


# --- secrets ---------------------------------------------------------------------------------------


@pytest.fixture
def secret(monkeypatch, tmp_path):
    """Writes a file into the folder that LARA_SECRETS names."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    monkeypatch.setenv("LARA_SECRETS", str(folder))
    return lambda name, text: (folder / name).write_text(text)


def test_a_secret_is_read_from_its_file_and_the_environment_outranks_it(monkeypatch, secret, toml):
    """The line's end is no part of it; the file of settings comes last; other files are others' business."""
    toml('redis_password = "of-the-file"\n')
    secret("LARA_REDIS_PASSWORD", "p@ss/word\n")
    secret("ca.crt", "")
    assert read_settings(redis_url="redis://lara@h:1/2").redis_address == "redis://lara:p%40ss%2Fword@h:1/2"
    monkeypatch.setenv("LARA_REDIS_PASSWORD", "nearer")
    assert read_settings(redis_url="unix://lara@/run/x").redis_address == "unix://lara:nearer@/run/x"


@pytest.mark.parametrize("name", ["LARA_REDIS_PASSWD", "LARA_"])
def test_a_file_that_is_no_setting_is_refused(secret, name):
    """A misspelt secret must not be silently ignored."""
    secret(name, "x")
    assert name in complaint()


def test_a_folder_of_secrets_that_is_not_there_is_a_mistake(monkeypatch):
    """As a file of settings is."""
    monkeypatch.setenv("LARA_SECRETS", "/nowhere")
    assert "/nowhere" in complaint()


@pytest.mark.parametrize(
    "given",
    [
        {"redis_url": "http://lara:geheim@h"},
        {"redis_url": "redis://lara:geheim@h", "redis_password": "geheim"},
        {"redis_password": ["geheim"]},
        {"kafka_sasl_password": "geheim"},
        {"kafka_sasl_password": ["geheim"]},
    ],
)
def test_a_secret_that_is_refused_is_not_shown(given):
    """Neither in the sentence, nor in the text of settings that are right."""
    with pytest.raises(SettingsError) as raised:
        read_settings(**given)
    assert "geheim" not in str(raised.value) and "\n" not in str(raised.value)
    assert "geheim" not in repr(read_settings(redis_url="redis://lara:geheim@h"))


SASL = {"kafka_security_protocol": "SASL_SSL", "kafka_sasl_username": "u", "kafka_sasl_password": "p"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({**SASL, "kafka_sasl_password": None}, "`kafka_sasl_password` is needed"),
        ({**SASL, "kafka_sasl_username": None}, "`kafka_sasl_username` is needed"),
        ({**SASL, "kafka_security_protocol": "SSL"}, "`kafka_sasl_username` is not used"),
        ({"kafka_ssl_cafile": __file__}, "`kafka_ssl_cafile` is not used"),
        ({"kafka_ssl_certfile": __file__, "kafka_ssl_keyfile": __file__}, "`kafka_ssl_certfile` is not used"),
        ({**SASL, "kafka_ssl_certfile": __file__}, "go together"),
        ({**SASL, "kafka_ssl_cafile": "/nowhere.pem"}, "kafka_ssl_cafile"),
        ({**SASL, "kafka_sasl_mechanism": "GSSAPI"}, "kafka_sasl_mechanism"),
    ],
)
def test_security_that_does_not_fit_together_is_told(given, told):
    """A password that would not be sent must not look as if it were."""
    with pytest.raises(SettingsError, match=told):
        read_settings(**given)


def test_brokers_are_told_what_the_settings_say():
    """With the password in clear, for the clients alone."""
    found = read_settings(bootstrap="a:1", **SASL, kafka_ssl_cafile=__file__).brokers
    assert (found.bootstrap, found.protocol, found.username, found.password) == ("a:1", "SASL_SSL", "u", "p")
    assert str(found.cafile) == __file__


# --- mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("LARA_SHARDS", "0"),
        ("LARA_SHARDS", "65"),
        ("LARA_SHARDS", "many"),
        ("LARA_PARTITIONS", "0"),
        ("LARA_PREFIX", "a b"),
        ("LARA_PREFIX", ""),
        ("LARA_PREFIX", "x" * 81),
        ("LARA_RETENTION_DAYS", "-2"),
        ("LARA_OUTAGE_DAYS", "0"),
        ("LARA_MATURITY_MINUTES", "1.5"),
        ("LARA_MATURITY_MINUTES", "0"),
        ("LARA_DEADLETTER_PAYLOADS", "perhaps"),
        ("LARA_MAX_RECORDS", "10001"),
        ("LARA_WORKER_PORT", "70000"),
        ("LARA_EXPORTER_PORT", "-1"),
        ("LARA_BROKER_SESSION_TIMEOUT_SECONDS", "0"),
    ],
)
def test_a_value_that_cannot_be_is_told_in_one_line_that_names_setting_and_value(
    monkeypatch, variable, value
):
    """Of the wrong type or out of range, from the environment."""
    monkeypatch.setenv(variable, value)
    told = complaint()
    assert variable.removeprefix("LARA_").lower() in told
    assert repr(value) in told
    assert "\n" not in told


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("shards = 0", "shards"),
        ("prefix = 7", "prefix"),
        ("[prefix]", "prefix"),
        ('surfaces = ["Chat"]', "surfaces"),
        ("surfaces = [1]", "surfaces"),
        ('colour = "red"', "colour"),
        ("[worker]\nport = 1", "worker"),
    ],
)
def test_a_mistake_in_the_file_is_told_in_one_line_that_names_the_setting(toml, text, name):
    """An unknown setting is a mistake too."""
    toml(text)
    told = complaint()
    assert name in told
    assert "\n" not in told


def test_several_mistakes_are_told_at_once_a_line_each(monkeypatch, toml):
    """So that they are mended at once."""
    toml("shards = 0\ncolour = 1\n")
    monkeypatch.setenv("LARA_WORKER_PORT", "x")
    lines = complaint().splitlines()
    assert len(lines) == 3
    assert all(any(name in line for line in lines) for name in ("shards", "colour", "worker_port"))


def test_a_file_that_is_no_toml_is_named(toml):
    """With the place of the mistake."""
    path = toml("prefix =\n")
    told = complaint()
    assert str(path) in told
    assert "line 1" in told


def test_a_config_that_is_not_there_is_a_mistake(monkeypatch):
    """A file that was asked for must not be silently missing."""
    monkeypatch.setenv("LARA_CONFIG", "/nowhere/lara.toml")
    assert "/nowhere/lara.toml" in complaint()


@pytest.mark.parametrize("variable", ["LARA_SHARD", "LARA_PREFIXES", "LARA_"])
def test_a_variable_that_is_no_setting_is_refused(monkeypatch, variable):
    """A misspelt setting must not be silently ignored."""
    monkeypatch.setenv(variable, "1")
    assert variable in complaint()


@pytest.mark.parametrize(
    "text",
    [
        "[[definition]]\nname = 'x'\n",
        "[[definition]]\nname = 'a b'\nversion = 1\nactions = ['x']\n",
        "name = ",
        "x = 1\n",
    ],
    ids=["incomplete", "no label", "no TOML", "unknown"],
)
def test_a_mistake_in_the_definitions_ends_the_program_at_its_start(monkeypatch, tmp_path, text):
    """And names the file."""
    path = tmp_path / "definitions.toml"
    path.write_text(text)
    monkeypatch.setenv("LARA_DEFINITIONS_FILE", str(path))
    told = complaint()
    assert "definitions_file" in told
    assert str(path) in told


def test_definitions_that_are_not_there_are_a_mistake(monkeypatch):
    """Counting by the defaults instead would be another meaning."""
    monkeypatch.setenv("LARA_DEFINITIONS_FILE", "/nowhere/definitions.toml")
    assert "/nowhere/definitions.toml" in complaint()


# --- what is printed of them ------------------------------------------------------------------------


def test_definitions_are_published_with_version_and_digest():
    """As the figures print them."""
    found = published(DEFAULT_DEFINITIONS)
    assert [(one.name, one.version, one.digest) for one in found] == [
        (one.name, str(one.version), one.digest) for one in DEFAULT_DEFINITIONS
    ]


def test_every_setting_has_a_line_and_a_sentence_in_the_documentation():
    """The page is written from the fields themselves."""
    lines = settings_markdown().splitlines()
    for name, field in Settings.model_fields.items():
        (line,) = [line for line in lines if line.startswith(f"| `{name}` |")]
        assert f"`LARA_{name.upper()}`" in line
        assert field.description and field.description in line
