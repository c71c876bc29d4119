"""A whole device for the system tests: real daemon, real broker, real worker, real PortAudio."""

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import paho.mqtt.client as paho
import psutil
import yaml
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.audio.alsa import AlsaFileDevice
from tests.mqtt.mosquitto import Mosquitto

PYTHON = os.environ.get("COSYVOICED_PYTHON", sys.executable)  # that the daemon runs with
DEADLINE_S = 30.0
NODE = "test"
BASE = "cosyvoice"
OWN = f"{BASE}/{NODE}"
DISCOVERY = f"homeassistant/device/cosyvoiced_{NODE}/config"
HEARD = (f"{BASE}/#", "home/#", "homeassistant/#")
FINAL = {"finished", "failed", "expired", "cancelled", "rejected"}


def wait_for(condition: Callable[[], Any], what: str, deadline_s: float = DEADLINE_S) -> Any:
    """The first true value of `condition`."""
    ends_s = time.monotonic() + deadline_s
    while not (value := condition()):
        if time.monotonic() > ends_s:
            raise AssertionError(f"not within {deadline_s:g} s: {what}")
        time.sleep(0.02)
    return value


class Ears:
    """A client that remembers all that was published under the base topic."""

    def __init__(self, port: int, protocol: MQTTProtocolVersion = MQTTProtocolVersion.MQTTv5) -> None:
        self.messages: list[tuple[str, bytes, bool, Properties | None]] = []
        self._ready = threading.Event()
        self._client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=f"ears-{secrets.token_hex(4)}",
            protocol=protocol,
        )
        self._protocol = protocol
        self._client.on_connect = lambda client, *_: client.subscribe([(name, 1) for name in HEARD])
        self._client.on_subscribe = lambda *_: self._ready.set()
        self._client.on_message = self._on_message
        self._client.reconnect_delay_set(1, 1)
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()
        if not self._ready.wait(DEADLINE_S):
            raise AssertionError("the broker did not answer")

    def _on_message(self, _client: paho.Client, _data: Any, message: paho.MQTTMessage) -> None:
        self.messages.append((message.topic, bytes(message.payload), message.retain, message.properties))

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def publish(
        self,
        topic: str,
        payload: str | bytes | dict[str, Any],
        qos: int = 1,
        retain: bool = False,
        **properties: Any,
    ) -> None:
        wait_for(self._client.is_connected, "connected")
        data = json.dumps(payload, ensure_ascii=False) if isinstance(payload, dict) else payload
        v5 = self._protocol == MQTTProtocolVersion.MQTTv5
        extra = Properties(PacketTypes.PUBLISH) if v5 else None  # type: ignore[no-untyped-call] # paho's
        for name, value in properties.items():
            setattr(extra, name, value)
        self._client.publish(topic, data, qos, retain, extra).wait_for_publish(DEADLINE_S)

    def payloads(self, topic: str) -> list[bytes]:
        return [payload for name, payload, _, _ in list(self.messages) if name == topic]

    def results(self, job_id: str | None = None) -> list[dict[str, Any]]:
        found = [json.loads(payload) for payload in self.payloads(f"{OWN}/result")]
        return [result for result in found if job_id in (None, result["id"])]

    def finals(self, job_id: str | None = None) -> list[dict[str, Any]]:
        """Each once: after a kill, a result that the broker may not have is told again as it was."""
        told = [result for result in self.results(job_id) if result["event"] in FINAL]
        return [result for number, result in enumerate(told) if result not in told[:number]]

    def state(self) -> dict[str, Any]:
        states = self.payloads(f"{OWN}/state")
        state: dict[str, Any] = json.loads(states[-1]) if states else {}
        return state


class Device:
    """One daemon with its broker and its sound card; a context manager that ends all of it."""

    def __init__(
        self,
        folder: Path,
        *,
        embedded: bool = False,
        broker: Mosquitto | None = None,
        env: Mapping[str, str] | None = None,
        fifos: Sequence[str] = (),
        **config: Any,
    ) -> None:
        """
        Args:
            broker: another device's; it is not ended with this one.
            env: besides what the sound card needs.
            fifos: names of sound outputs that hang.
        """
        self.folder = folder
        self.env = dict(env or {})
        self.card = AlsaFileDevice(folder / "card", fifos)
        self.card.folder.mkdir()
        self.card.create()
        self._owns_broker = broker is None and not embedded
        self.broker = broker or Mosquitto(folder, ("allow_anonymous true", *Mosquitto.PERSISTENT))
        self.log_path = folder / "daemon.log"
        self.config_path = folder / "cosyvoiced.yaml"
        self._embedded = embedded
        self._process: subprocess.Popen[bytes] | None = None
        self._ears: Ears | None = None
        kind = "embedded" if embedded else "external"
        self.config: dict[str, Any] = {
            "mqtt": {"broker": kind, "port": self.broker.port, "node": NODE, "groups": ["upstairs"]},
            "outputs": {"path": str(folder / "outputs")},
            "state": {"path": str(models_shared_with(folder / "state"))},
            "speaker": {"device": "default", "lead_in_s": 0.0, "tail_s": 0.0},
        }
        for section, values in config.items():
            if isinstance(values, dict):
                self.config.setdefault(section, {}).update(values)
            else:
                self.config[section] = values

    def __enter__(self) -> Self:
        try:
            if self._owns_broker:
                self.broker.start()
            self.start()
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            print(self.log[-6000:])
        self.kill()
        if self._ears is not None:
            self._ears.close()
        if self._owns_broker:
            self.broker.stop()

    @property
    def log(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    @property
    def pid(self) -> int:
        if self._process is None:
            raise AssertionError("the daemon is not running")
        return self._process.pid

    @property
    def ears(self) -> Ears:
        if self._ears is None:
            version = MQTTProtocolVersion.MQTTv311 if self._embedded else MQTTProtocolVersion.MQTTv5
            self._ears = Ears(self.broker.port, version)
        return self._ears

    def leave(self) -> None:
        """Stops listening; whoever asks for `ears` next gets new ones."""
        if self._ears is not None:
            self._ears.close()
            self._ears = None

    def start(self, online: bool = True) -> None:
        self.config_path.write_text(yaml.safe_dump(self.config, allow_unicode=True))
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [PYTHON, "-m", "daemon.cli", "run", "--config", str(self.config_path)],
                stdout=log,
                stderr=log,
                env={**os.environ, **self.card.env, **self.env},
            )
        if online:
            wait_for(self._is_online, "the daemon is online")

    def _is_online(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self._process.returncode}:\n{self.log[-3000:]}")
        try:
            ears = self.ears
        except OSError:  # the embedded broker is not up yet
            return False
        seen = ears.payloads(f"{OWN}/availability")
        return bool(seen) and seen[-1] == b"online"

    def stop(self) -> int:
        """Ends the daemon in good order; its exit code."""
        if self._process is None:
            raise AssertionError("the daemon is not running")
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(DEADLINE_S)
        self._process = None
        return code

    def kill(self) -> None:
        """Ends the daemon as a power cut would, and waits until its children are gone too."""
        if self._process is None:
            return
        children = self.children()
        self._process.kill()
        self._process.wait(DEADLINE_S)
        self._process = None
        _, alive = psutil.wait_procs(children, timeout=10)
        assert not alive, "a child outlived the daemon"

    def children(self, module: str = "") -> list[psutil.Process]:
        found = []
        for child in psutil.Process(self.pid).children():
            try:
                if module in " ".join(child.cmdline()):
                    found.append(child)
            except psutil.Error:
                continue
        return found

    def worker(self) -> psutil.Process:
        workers: list[psutil.Process] = wait_for(
            lambda: self.children("daemon.synthesis.worker"), "a worker is there"
        )
        return workers[0]

    def say(self, payload: str | dict[str, Any], topic: str = f"{OWN}/say", **options: Any) -> str:
        """Publishes a request; its id (made up where the payload has none)."""
        if isinstance(payload, str):
            payload = {"text": payload}
        payload = {"id": secrets.token_hex(4), **payload}
        self.ears.publish(topic, payload, **options)
        return str(payload["id"])

    def final(self, job_id: str, deadline_s: float = DEADLINE_S) -> dict[str, Any]:
        wait_for(lambda: self.ears.finals(job_id), f"a final result of {job_id}", deadline_s)
        finals = self.ears.finals(job_id)
        assert len(finals) == 1
        return finals[0]

    def event(self, job_id: str, event: str, deadline_s: float = DEADLINE_S) -> dict[str, Any]:
        found: list[dict[str, Any]] = wait_for(
            lambda: [result for result in self.ears.results(job_id) if result["event"] == event],
            f"{event} of {job_id}",
            deadline_s,
        )
        return found[0]

    def command(self, verb: str, payload: str = "") -> None:
        self.ears.publish(f"{OWN}/command/{verb}", payload)

    def set(self, name: str, value: str) -> None:
        self.ears.publish(f"{OWN}/set/{name}", value)

    def heard_s(self) -> float:
        """Seconds of sound that came out of the sound card so far, silence at the ends left out."""
        return sum(len(recording.sound()) / recording.sample_rate_hz for recording in self.card.recordings())


def models_shared_with(state: Path) -> Path:
    """A new state folder that takes the joined models from a common one, so that each test starts fast."""
    state.mkdir()
    shared = Path(__file__).parents[2] / "state" / "models"
    shared.mkdir(parents=True, exist_ok=True)
    (state / "models").symlink_to(shared)
    return state
