"""Reads the YAML file into a `Config`, or says everything that is wrong with it, a sentence each."""

import os
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
import yaml

from daemon import config as options
from daemon import styles, wording
from daemon.audio import chime
from daemon.config import Config, Section
from daemon.errors import CosyvoicedError
from daemon.homeassistant.discovery import check_prefix
from daemon.mqtt.embedded import is_loopback
from daemon.mqtt.topics import TopicError, Topics, check_level
from daemon.synthesis import cosyvoice3, engines
from daemon.web import facts as web
from daemon.wyoming import facts as wyoming

MAX_CONFIG_BYTES = 2**20


class ConfigError(CosyvoicedError):
    """The configuration cannot be used; `problems` holds one sentence for each fault."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def load(path: Path, ready: bool = True) -> Config:
    """Reads and checks a configuration file.

    `ready`: its engine and its voice must be there, too; not so for the commands that make them.

    Raises:
        ConfigError: it holds mistakes.
    """
    try:
        if path.stat().st_size > MAX_CONFIG_BYTES:
            raise ConfigError([f"{path}: the file is over {MAX_CONFIG_BYTES} bytes."])
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        hint = "; name another with --config" if isinstance(error, FileNotFoundError) else ""
        raise ConfigError([f"{path}: cannot be read: {error.strerror}{hint}."]) from error
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: is not UTF-8 text (byte {error.start})."]) from error
    return parse(text, ready)


def parse(text: str, ready: bool = True) -> Config:
    """Checks a configuration's YAML text, as `load` does. Raises `ConfigError`."""
    try:
        data = yaml.load(text, _UniqueKeyLoader)
    except yaml.MarkedYAMLError as error:
        where = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ConfigError([f"{where}not valid YAML: {error.problem}."]) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError([f"not valid YAML: {error}."]) from error
    data = _with_switches({} if data is None else data)
    problems = list(_check(data, Config, ""))
    if problems:
        raise ConfigError(problems)
    config: Config = msgspec.convert(_with_clock_times(data), Config)
    problems = list(_check_meaning(config))
    if problems := problems + (list(_check_ready(config)) if ready else []):
        raise ConfigError(problems)
    return config


def mqtt_password(config: Config) -> str | None:
    """The broker's password: from `password_file`, a systemd credential or the environment.

    Raises:
        ConfigError: `password_file` is named, or the credential is there, and it cannot be read.
    """
    if config.mqtt.password_file:
        return _secret(Path(config.mqtt.password_file).expanduser(), "mqtt.password_file")
    if folder := os.environ.get("CREDENTIALS_DIRECTORY"):
        credential = Path(folder) / "mqtt-password"
        # Empty, it is the unit's default for a password that nobody has set.
        if password := _secret(credential, "systemd credential", if_missing=""):
            return password
    return os.environ.get("COSYVOICED_MQTT_PASSWORD")


def web_token(config: Config) -> str | None:
    """What the page and the gateway ask for: from `token_file` or a systemd credential; None: nothing.

    Raises:
        ConfigError: `token_file` is named, or the credential is there, and it cannot be read or is too short.
    """
    if config.web.token_file:
        named_by = "web.token_file"
        token = _secret(Path(config.web.token_file).expanduser(), named_by).strip()
    elif folder := os.environ.get("CREDENTIALS_DIRECTORY"):
        named_by = "the systemd credential web-token"
        token = _secret(Path(folder) / "web-token", named_by, if_missing="").strip()
        if not token:
            return None
    else:
        return None
    if len(token) < web.MIN_TOKEN_CHARACTERS:
        raise ConfigError([f"{named_by}: must hold at least {web.MIN_TOKEN_CHARACTERS} characters."])
    return token


def _secret(path: Path, named_by: str, if_missing: str | None = None) -> str:
    try:
        return path.read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except (OSError, UnicodeDecodeError) as error:
        if if_missing is not None and isinstance(error, FileNotFoundError):
            return if_missing
        raise ConfigError([f"{named_by}: {path} cannot be read: {error}."]) from error


class _UniqueKeyLoader(yaml.SafeLoader):
    """A SafeLoader that refuses a key written twice, where plain YAML would drop the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key}' stands twice", node.value[index][0].start_mark
                )
        return super().construct_mapping(node, deep)


def _check(data: Any, section: type[Section], path: str) -> Iterator[str]:
    """Walks a section and yields a sentence for every fault below it."""
    if not isinstance(data, dict):
        yield f"{path or 'the file'}: must be a mapping of options, not {_shown(data)}."
        return
    hints = get_type_hints(section, include_extras=True)
    fields = {field.encode_name: field for field in msgspec.structs.fields(section)}
    for key in data:
        if key not in fields:
            yield f"{_join(path, key)}: there is no such option{wording.did_you_mean(str(key), fields)}"
    for name, field in fields.items():
        here = _join(path, name)
        if name not in data:
            if field.required:
                yield f"{here}: is missing."
            continue
        value = data[name]
        nested = _section_of(hints[field.name])
        if nested is not None and value is not None:
            yield from _check(value, nested, here)
            continue
        try:
            msgspec.convert(_clock_time(value) if name in ("from", "to") else value, hints[field.name])
        except msgspec.ValidationError:
            hint = hints[field.name]
            yield f"{here}: must be {wording.expected(hint)}, not {_shown(value)}{_near(hint, value)}"


def _check_meaning(config: Config) -> Iterator[str]:
    """Faults that only show once the options are read."""
    if styles.resolve(config.style) is None:
        near = wording.did_you_mean(config.style, styles.PRESETS)
        yield f"style: there is no style '{config.style}'{near}"
    if isinstance(config.speaker.chime, str) and config.speaker.chime not in chime.names():
        near = wording.did_you_mean(config.speaker.chime, chime.names())
        yield f"speaker.chime: there is no chime '{config.speaker.chime}'{near}"
    if config.mqtt.password_file and not os.access(Path(config.mqtt.password_file).expanduser(), os.R_OK):
        yield f"mqtt.password_file: {config.mqtt.password_file} cannot be read."
    if config.mqtt.tls and bool(config.mqtt.tls.cert_file) != bool(config.mqtt.tls.key_file):
        yield "mqtt.tls: cert_file and key_file go together."
    if config.mqtt.broker == "embedded" and config.mqtt.tls:
        yield "mqtt.tls: the embedded broker has no TLS; use broker: external."
    heat, memory, disk = config.watch.heat, config.watch.memory, config.watch.disk
    if not heat.warm_c < heat.hot_c < heat.critical_c:
        yield "watch.heat: warm_c, hot_c and critical_c must rise in this order."
    if not memory.warm_mib >= memory.hot_mib >= memory.critical_mib:
        yield "watch.memory: warm_mib, hot_mib and critical_mib must fall in this order."
    if disk.refuse_mib > disk.prune_mib:
        yield "watch.disk: refuse_mib must not be above prune_mib."
    try:
        Topics(config.mqtt.base_topic, config.mqtt.node or "node", config.mqtt.groups)
    except TopicError as error:
        yield f"mqtt: {error}."
    try:
        check_prefix(config.homeassistant.prefix, config.mqtt.base_topic)
    except TopicError as error:
        yield f"homeassistant.prefix: {error}."
    try:
        check_level("site", config.hermes.site_id or "site")
    except TopicError as error:
        yield f"hermes.site_id: {error}."


def _check_ready(config: Config) -> Iterator[str]:
    """What the configuration names and has still to be made."""
    state_dir = options.state_dir(config, dict(os.environ))
    if config.engine == cosyvoice3.NAME:
        lacking = cosyvoice3.missing(options.model_dir(config, state_dir))
        if lacking is not None:
            yield f"engine: cosyvoice3 cannot be used yet: {lacking}."
    if config.wyoming.enabled and (absent := wyoming.to_install(config.wyoming)) is not None:
        yield f"wyoming: {absent}."
    if config.web.enabled:
        yield from _check_web(config)
    if config.voice == "auto":
        return
    known = [voice for engine in engines.find(config, state_dir) for voice in engine.voices]
    if config.voice not in known:
        yield f"voice: there is no voice '{config.voice}'{wording.did_you_mean(config.voice, known)}"


def _check_web(config: Config) -> Iterator[str]:
    if (absent := web.to_install()) is not None:
        yield f"web: {absent}."
    try:
        token = web_token(config)
    except ConfigError as error:
        yield from error.problems
        return
    if token is None and not is_loopback(config.web.host):
        yield (
            f"web.host: {config.web.host} can be reached by others, so a token is needed:"
            " write one into a file and name it as web.token_file."
        )


def _section_of(hint: Any) -> type[Section] | None:
    options = get_args(hint) if get_origin(hint) in (Union, type(int | str)) else (hint,)
    return next((o for o in options if isinstance(o, type) and issubclass(o, Section)), None)


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _shown(value: object) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _near(hint: Any, value: object) -> str:
    return wording.did_you_mean(str(value), [c for c in get_args(hint) if isinstance(c, str)])


def _clock_time(value: object) -> object:
    """YAML 1.1 reads an unquoted 22:00 as the number 1320; turn it back."""
    is_minutes = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 24 * 60
    return f"{value // 60:02d}:{value % 60:02d}" if is_minutes else value  # type: ignore[operator] # an int here


def _with_switches(data: Any) -> Any:
    """`hermes: true` is short for `hermes: {enabled: true}`."""
    if not isinstance(data, dict) or not isinstance(data.get("hermes"), bool):
        return data
    return {**data, "hermes": {"enabled": data["hermes"]}}


def _with_clock_times(data: dict[str, Any]) -> dict[str, Any]:
    hours = data.get("quiet_hours")
    if not isinstance(hours, dict):
        return data
    return {**data, "quiet_hours": {key: _clock_time(value) for key, value in hours.items()}}
