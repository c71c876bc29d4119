"""`cosyvoiced status`: how a running daemon is, for a person, a program or Prometheus.

For the textfile collector of node_exporter, let a timer or cron run this every minute, as one who may
write there; `sponge` (Debian: moreutils) puts the file in place whole:

    cosyvoiced status --prometheus | sponge /var/lib/prometheus/node-exporter/cosyvoiced.prom

`cosyvoiced_up` is 0 when no daemon is online or no broker answers, and then it is the only metric.
"""

import json
import queue
import time
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from daemon import configfile
from daemon.commands import status_lines
from daemon.config import Config
from daemon.errors import CosyvoicedError
from daemon.mqtt.configured import link_settings, topics
from daemon.mqtt.messages import State
from daemon.mqtt.settings import LinkSettings
from daemon.mqtt.visitor import CallError, Visitor
from daemon.watch import prometheus

Shape = Literal["text", "json", "prometheus"]

RETAINED_DEADLINE_S = 2.0  # the broker sends what it keeps right after the subscription


class Seen(NamedTuple):
    """What the broker keeps of a daemon."""

    online: bool
    state: dict[str, Any] | None  # as it was published


def status(path: Path, shape: Shape, deadline_s: float) -> int:
    """Prints how the daemon of this configuration is; 1 when it is not online.

    Raises:
        ConfigError: the configuration cannot be used.
        CallError: no broker answers, or no daemon was ever there.
        CosyvoicedError: what the daemon has published cannot be understood.
    """
    config = configfile.load(path, ready=False)
    name = topics(config).own
    try:
        seen = _look(config, deadline_s)
    except CallError:
        if shape == "prometheus":
            print(prometheus.text(None, online=False), end="")
        raise
    if shape == "json":
        print(json.dumps({"device": name, **seen._asdict()}, ensure_ascii=False, indent=2))
        return int(not seen.online)
    state = None if seen.state is None else _state(seen.state)
    if shape == "prometheus":
        print(prometheus.text(state, seen.online), end="")
    else:
        _show(name, state, seen.online)
    return int(not seen.online)


def _show(name: str, state: State | None, online: bool) -> None:
    if online:
        print(f"{name} is online" + ("" if state else ", but has published no state yet"))
    else:
        print(f"{name} is offline: {_why_offline(state)}")
    if state is not None:
        if not online:
            print("It is not known since when. Its last words:")
        print("\n".join(status_lines.lines(state)))


def _why_offline(state: State | None) -> str:
    if state is not None and state.status == "stopping":
        return "it was stopped"
    return "it broke off without a word; it has crashed, or lost its power or its network"


def _look(config: Config, deadline_s: float) -> Seen:
    """What the broker keeps of the daemon. Raises `CallError`."""
    names = topics(config)
    settings = link_settings(config, config.mqtt.host, config.mqtt.port)
    try:
        found = _retained(settings, (names.availability, names.state), deadline_s)
    except CallError as error:
        if config.mqtt.broker == "embedded":
            raise CallError(f"{error}; the daemon brings this broker with it, so it does not run") from error
        raise
    if not found:
        raise CallError(
            f"no cosyvoiced was ever online as {names.own} at {settings.address}: start one, or check "
            "mqtt.node, mqtt.base_topic, and that this user may read these topics"
        )
    state = found.get(names.state)
    return Seen(found.get(names.availability) == b"online", _fields(state) if state else None)


def _retained(settings: LinkSettings, wanted: tuple[str, ...], deadline_s: float) -> dict[str, bytes]:
    """The messages that the broker keeps on these topics. Raises `CallError` when it cannot be asked."""
    ends_at_s = time.monotonic() + deadline_s
    inbox: queue.SimpleQueue[tuple[str, bytes]] = queue.SimpleQueue()
    found: dict[str, bytes] = {}
    with Visitor(settings, wanted, lambda *message: inbox.put(message), deadline_s):
        ends_at_s = min(ends_at_s, time.monotonic() + RETAINED_DEADLINE_S)
        while len(found) < len(wanted):
            try:
                topic, payload = inbox.get(timeout=max(0.0, ends_at_s - time.monotonic()))
            except queue.Empty:
                break
            if payload:  # an empty one is how a retained message is deleted
                found[topic] = payload
    return found


def _fields(payload: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(payload, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise CosyvoicedError(f"the daemon's state cannot be read: {error}") from error


def _state(fields: dict[str, Any]) -> State:
    """The state; what an older daemon does not tell, or a newer one tells in another way, is unknown."""
    known = msgspec.structs.fields(State)
    return State(**{field.name: _value(field, fields.get(field.name)) for field in known})


def _value(field: msgspec.structs.FieldInfo, value: Any) -> Any:
    try:
        return msgspec.convert(value, field.type)
    except msgspec.ValidationError as error:
        if not field.required:
            return field.default
        if type(None) in get_args(field.type):
            return None
        raise CosyvoicedError(f"the daemon's state cannot be read: {field.name}: {error}") from error
