"""The configuration file: all options, and a sentence for every fault."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from daemon import configfile
from daemon.config import Config, Section
from daemon.configfile import ConfigError

SHIPPED = Path(__file__).parents[1] / "config" / "cosyvoiced.yaml"


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigError) as error:
        configfile.parse(text)
    return error.value.problems


def test_the_shipped_file_holds_every_option_with_its_default() -> None:
    assert configfile.load(SHIPPED) == Config()
    written = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))

    def compare(section: Section, data: dict[str, Any], path: str) -> None:
        names = {field.encode_name for field in msgspec.structs.fields(section)}
        assert set(data) == names, path
        for name in names:
            value = getattr(section, name)
            if isinstance(value, Section):
                compare(value, data[name], f"{path}.{name}")

    compare(Config(), written, "config")


def test_levels_that_are_out_of_order_are_told() -> None:
    text = "watch: {heat: {warm_c: 90}, memory: {critical_mib: 300}, disk: {refuse_mib: 999}}"
    assert [problem.split(":")[0] for problem in problems_of(text)] == [
        *("watch.heat", "watch.memory", "watch.disk")
    ]


def test_an_empty_file_is_all_defaults() -> None:
    assert configfile.parse("") == Config()


def test_all_faults_are_told_at_once_with_path_and_near_match() -> None:
    problems = problems_of(
        """
        engine: buildin
        mqtt: {prot: 1883, keepalive_s: soon}
        speaker: {volume: 101, chime: gon}
        outputs: 5
        """
    )
    text = "\n".join(problems)
    assert "mqtt.prot: there is no such option; did you mean 'port'?" in text
    assert "engine: must be one of auto, builtin, cosyvoice3, not 'buildin'; did you mean 'builtin'?" in text
    assert "mqtt.keepalive_s: must be a whole number from 5 to 3600, not 'soon'" in text
    assert "speaker.volume: must be a whole number from 0 to 100, not 101" in text
    assert "outputs: must be a mapping of options, not 5." in text
    assert len(problems) == 5


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("voice: zf_xiaoy", "did you mean 'zf_xiaoyi'?"),
        ("style: hapy", "did you mean 'happy'?"),
        ("speaker: {chime: gon}", "speaker.chime: there is no chime 'gon'; did you mean 'gong'?"),
        ("mqtt: {base_topic: 'a/#'}", "mqtt: the base topic"),
        ("mqtt: {node: 'a/b'}", "mqtt: the node"),
        ("mqtt: {groups: ['x+']}", "mqtt: the group"),
        ("mqtt: {tls: {ca_file: x}}", "the embedded broker has no TLS"),
        ("mqtt: {broker: external, tls: {cert_file: x}}", "cert_file and key_file go together"),
        ("quiet_hours: {from: '22:00'}", "quiet_hours.to: is missing."),
        ("quiet_hours: {from: '25:00', to: '07:00'}", "quiet_hours.from: must be a time such as 22:00, not"),
        ("engine: cosyvoice3", "engine: cosyvoice3 cannot be used yet: "),
        ("mqtt: {password_file: /nowhere/x}", "mqtt.password_file: /nowhere/x cannot be read"),
        ("outputs: {max_age_days: 0}", "outputs.max_age_days: must be a number above 0, not 0"),
        ("mqtt: {node: ''}", "mqtt.node: must be text of 1 to 128 characters or null"),
        ("a: 1\na: 2", "stands twice"),
        ("a: [", "not valid YAML"),
        ("- list", "must be a mapping"),
        ("mqtt: null", "mqtt: must be a mapping"),
        ("hermes: 'yes'", "hermes: must be a mapping"),
        ("hermes: {site_id: 'a/+'}", "hermes.site_id: the site 'a/+' holds '/', which a topic cannot carry"),
        ("limits: {ttl_s: true}", "limits.ttl_s: must be a number"),
        ("language: English", "language: must"),
        ("!!python/object/apply:os.system ['true']", "not valid YAML"),
    ],
)
def test_one_fault(text: str, sentence: str) -> None:
    problems = problems_of(text)
    assert any(sentence in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("text", "enabled", "site_id"),
    [
        ("hermes: true", True, None),
        ("hermes: false", False, None),
        ("hermes: {enabled: true, site_id: default}", True, "default"),
    ],
)
def test_hermes_is_a_switch_or_a_section(text: str, enabled: bool, site_id: str | None) -> None:
    hermes = configfile.parse(text).hermes
    assert (hermes.enabled, hermes.site_id) == (enabled, site_id)


def test_unquoted_clock_times_are_understood() -> None:
    hours = configfile.parse("quiet_hours: {from: 22:00, to: 07:00}").quiet_hours
    assert hours is not None
    assert (hours.start, hours.end) == ("22:00", "07:00")


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        configfile.load(tmp_path / "none.yaml")


def test_the_password_comes_from_file_credential_or_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYVOICED_MQTT_PASSWORD", "from environment")
    assert configfile.mqtt_password(Config()) == "from environment"
    (tmp_path / "mqtt-password").write_text("from credential\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert configfile.mqtt_password(Config()) == "from credential"
    named = tmp_path / "named"
    named.write_text(" from file \n")
    assert configfile.mqtt_password(configfile.parse(f"mqtt: {{password_file: {named}}}")) == " from file "
    config = configfile.parse(f"mqtt: {{password_file: {named}}}")
    named.unlink()
    with pytest.raises(ConfigError, match="password_file"):
        configfile.mqtt_password(config)


def test_the_web_token_comes_from_file_or_credential(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    assert configfile.web_token(Config()) is None
    (tmp_path / "web-token").write_text("credential-of-some-length\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert configfile.web_token(Config()) == "credential-of-some-length"
    named = tmp_path / "named"
    named.write_text("file-of-some-length\n")
    config = configfile.parse(f"web: {{token_file: {named}}}")
    assert configfile.web_token(config) == "file-of-some-length"
    named.write_text("short")
    with pytest.raises(ConfigError, match="at least 16 characters"):
        configfile.web_token(config)


def test_a_page_that_others_can_reach_needs_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    (told,) = problems_of("web: {enabled: true, host: 0.0.0.0}")
    assert told.startswith("web.host: 0.0.0.0 can be reached by others, so a token is needed")
    (tmp_path / "token").write_text("a-token-of-some-length")
    allowed = configfile.parse(f"web: {{enabled: true, host: 0.0.0.0, token_file: {tmp_path / 'token'}}}")
    assert allowed.web.enabled
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    told = "web: starlette, uvicorn must be installed: .venv/bin/pip install -e '.[web]'."
    assert problems_of("web: {enabled: true}") == [told]


def test_an_extra_that_is_not_installed_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    told = "wyoming: wyoming, zeroconf must be installed: .venv/bin/pip install -e '.[wyoming]'."
    assert problems_of("wyoming: {enabled: true, zeroconf: true}") == [told]
    assert not configfile.parse("wyoming: {enabled: false}").wyoming.enabled
