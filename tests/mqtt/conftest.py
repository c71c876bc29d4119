"""Brokers and links for the MQTT tests."""

import asyncio
import subprocess
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from daemon.mqtt.link import Link
from daemon.mqtt.settings import LinkSettings, Will
from daemon.mqtt.topics import Topics
from daemon.mqtt.traffic import Delivery
from tests.mqtt.mosquitto import Mosquitto

DEADLINE_S = 10.0

StartMosquitto = Callable[..., Mosquitto]


@pytest.fixture
def start_mosquitto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartMosquitto]:
    """Starts brokers with the configuration lines given; each is ended after the test."""
    brokers: list[Mosquitto] = []

    def start(*config: str, folder: Path | None = None) -> Mosquitto:
        broker = Mosquitto(
            folder or tmp_path_factory.mktemp("mosquitto"), config or ("allow_anonymous true",)
        )
        brokers.append(broker)
        broker.start()
        return broker

    yield start
    for broker in brokers:
        broker.stop()


@pytest.fixture
def mosquitto(start_mosquitto: StartMosquitto) -> Mosquitto:
    """A broker that lets everybody in."""
    return start_mosquitto()


@pytest.fixture
def topics() -> Topics:
    """Topics that no other test uses."""
    return Topics("test", uuid.uuid4().hex, ("upstairs",))


class Receiver:
    """Takes what a link delivers; acknowledges each message at once unless `acknowledge` is off."""

    def __init__(self) -> None:
        self.deliveries: asyncio.Queue[Delivery] = asyncio.Queue()
        self.connections: asyncio.Queue[tuple[bool, bool]] = asyncio.Queue()
        self.acknowledge = True
        self.link: Link

    def on_message(self, delivery: Delivery) -> None:
        if self.acknowledge:
            self.link.acknowledge(delivery)
        self.deliveries.put_nowait(delivery)

    def on_connected(self, session_present: bool, first: bool) -> None:
        self.connections.put_nowait((session_present, first))

    async def next(self) -> Delivery:
        async with asyncio.timeout(DEADLINE_S):
            return await self.deliveries.get()

    async def connected(self) -> tuple[bool, bool]:
        """Waits for the next connection; (session present, first)."""
        async with asyncio.timeout(DEADLINE_S):
            return await self.connections.get()


def settings_for(port: int, topics: Topics, **changes: Any) -> LinkSettings:
    """Settings that try again quickly, so that the tests do."""
    defaults: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": port,
        "client_id": f"cosyvoiced-{topics.node}",
        "will": Will(topics.availability, b"offline"),
        "retry_min_s": 0.05,
        "retry_max_s": 0.2,
    }
    return LinkSettings(**(defaults | changes))


def new_link(settings: LinkSettings, topics: Topics, receiver: Receiver) -> Link:
    link = Link(
        settings,
        topics.subscriptions,
        topics.heartbeat,
        on_message=receiver.on_message,
        on_connected=receiver.on_connected,
    )
    receiver.link = link
    return link


@asynccontextmanager
async def running_link(
    port: int, topics: Topics, receiver: Receiver | None = None, *, wait: bool = True, **changes: Any
) -> AsyncIterator[tuple[Link, Receiver]]:
    """A started link; with `wait`, one that is connected and subscribed."""
    receiver = receiver or Receiver()
    link = new_link(settings_for(port, topics, **changes), topics, receiver)
    await link.start()
    try:
        if wait:
            await receiver.connected()
            await link.round_trip(DEADLINE_S)
        yield link, receiver
    finally:
        await link.stop(b"offline")


async def until(condition: Callable[[], bool]) -> None:
    """Waits for the condition to hold."""
    async with asyncio.timeout(DEADLINE_S):
        while not condition():  # noqa: ASYNC110  # what is waited for is set by another process
            await asyncio.sleep(0.01)


def run(test: Coroutine[Any, Any, None]) -> None:
    """Runs an asynchronous test, with a deadline of its own."""

    async def bounded() -> None:
        async with asyncio.timeout(50):
            await test

    asyncio.run(bounded())


def openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=30)


def issue_certificate(folder: Path, name: str, extension: Sequence[str] = ()) -> None:
    """Makes `name.key` and `name.crt`, signed by the folder's `ca`."""
    request = folder / f"{name}.csr"
    openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}",
            "-keyout", folder / f"{name}.key", "-out", request)  # fmt: skip
    extensions = folder / f"{name}.ext"
    extensions.write_text("\n".join(extension) + "\n")
    openssl("x509", "-req", "-in", request, "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key",
            "-CAcreateserial", "-days", "2", "-extfile", extensions,
            "-out", folder / f"{name}.crt")  # fmt: skip


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an authority (`ca`), a broker's certificate for 127.0.0.1, and a client's."""
    folder = tmp_path_factory.mktemp("certificates")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test authority", "-days", "2",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign",
            "-keyout", folder / "ca.key", "-out", folder / "ca.crt")  # fmt: skip
    issue_certificate(folder, "broker", ["subjectAltName=IP:127.0.0.1", "authorityKeyIdentifier=keyid"])
    issue_certificate(folder, "client", ["authorityKeyIdentifier=keyid"])
    return folder
