"""The link when the broker does not want it: logins, certificates, rights, protocol versions."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from daemon.mqtt.settings import LinkError, LinkSettings, Tls
from daemon.mqtt.topics import Topics
from tests.mqtt.conftest import Receiver, StartMosquitto, new_link, run, running_link, settings_for, until
from tests.mqtt.mosquitto import Mosquitto, executable
from tests.mqtt.peer import Peer

CONNACK_VERSION_REFUSED = b"\x20\x02\x00\x01"  # MQTT 3.1.1, section 3.2.2.3


@pytest.fixture
def guarded(start_mosquitto: StartMosquitto, tmp_path: Path) -> Mosquitto:
    """A broker that lets in `speaker` with the password `geheim`."""
    passwords = tmp_path / "passwords"
    subprocess.run(
        [executable("mosquitto_passwd"), "-b", "-c", str(passwords), "speaker", "geheim"],
        check=True,
        capture_output=True,
        timeout=10,
    )
    return start_mosquitto("allow_anonymous false", f"password_file {passwords}", folder=tmp_path)


def test_the_right_password_opens_and_is_read_anew_at_each_attempt(
    guarded: Mosquitto, topics: Topics
) -> None:
    passwords = iter(["old", "geheim"])

    async def test() -> None:
        login: dict[str, Any] = {"username": "speaker", "password": lambda: next(passwords)}
        async with running_link(guarded.port, topics, **login) as (link, _):
            assert link.status.connected

    run(test())


@pytest.mark.parametrize("password", ["wrong", None])
def test_a_wrong_password_is_told_once_in_one_sentence(
    password: str | None, guarded: Mosquitto, topics: Topics, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        login: dict[str, Any] = {"username": "speaker", "password": password}
        async with running_link(guarded.port, topics, wait=False, **login) as (link, _):
            await until(lambda: guarded.log.count("not authorised") >= 3)
            assert link.status.last_error is not None
            assert "refuses the user 'speaker': wrong name or password" in link.status.last_error
            assert not link.status.connected

    run(test())
    assert len(caplog.records) == 1


def test_a_password_file_that_cannot_be_read_is_told_and_tried_again(
    guarded: Mosquitto, topics: Topics, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"

    async def test() -> None:
        login: dict[str, Any] = {"username": "speaker", "password": secret.read_text}
        async with running_link(guarded.port, topics, wait=False, **login) as (link, receiver):
            await until(lambda: "cannot read the MQTT password" in (link.status.last_error or ""))
            secret.write_text("geheim")
            await receiver.connected()

    run(test())


def test_a_refused_subscription_is_told_and_the_link_goes_on(
    start_mosquitto: StartMosquitto, topics: Topics, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rights = tmp_path / "rights"
    rights.write_text(f"topic readwrite {topics.own}/#\n")
    broker = start_mosquitto("allow_anonymous true", f"acl_file {rights}", folder=tmp_path)

    async def test() -> None:
        async with running_link(broker.port, topics) as (link, receiver):
            with pytest.raises(LinkError, match=r"refused a message to else/where: Not authorized"):
                await link.publish("else/where", b"x")
            with Peer(broker.port) as peer:
                peer.publish(topics.own + "/say", "still heard")
            assert (await receiver.next()).payload == b"still heard"

    run(test())
    assert caplog.text.count("refused a message to else/where") == 1


def test_tls_with_a_client_certificate(
    start_mosquitto: StartMosquitto, topics: Topics, certificates: Path
) -> None:
    broker = start_mosquitto(*tls_config(certificates), "require_certificate true")

    async def test() -> None:
        tls = Tls(
            str(certificates / "ca.crt"), str(certificates / "client.crt"), str(certificates / "client.key")
        )
        async with running_link(broker.port, topics, tls=tls) as (link, _):
            await link.publish(topics.result, b"sealed")
            assert link.status.protocol == "5"

    run(test())


def test_a_missing_client_certificate_is_named_as_the_likely_cause(
    start_mosquitto: StartMosquitto, topics: Topics, certificates: Path
) -> None:
    broker = start_mosquitto(*tls_config(certificates), "require_certificate true")

    async def test() -> None:
        tls = Tls(str(certificates / "ca.crt"))
        async with running_link(broker.port, topics, wait=False, tls=tls) as (link, _):
            await until(lambda: "may want a client certificate" in (link.status.last_error or ""))

    run(test())


def test_a_broker_that_is_not_trusted_gets_no_connection(
    start_mosquitto: StartMosquitto, topics: Topics, certificates: Path
) -> None:
    broker = start_mosquitto(*tls_config(certificates))

    async def test() -> None:
        async with running_link(broker.port, topics, wait=False, tls=Tls()) as (link, _):
            await until(lambda: "a certificate that is not trusted" in (link.status.last_error or ""))
        async with running_link(broker.port, topics, tls=Tls(insecure=True)) as (link, _):
            assert link.status.connected

    run(test())


def test_tls_files_that_are_none_are_refused_at_start(topics: Topics, tmp_path: Path) -> None:
    nonsense = tmp_path / "ca.crt"
    nonsense.write_text("nonsense")

    async def test() -> None:
        for ca_file in (nonsense, tmp_path / "missing.crt"):
            link = new_link(settings_for(1, topics, tls=Tls(str(ca_file))), topics, Receiver())
            with pytest.raises(LinkError, match=f"cannot use the TLS files {ca_file}"):
                await link.start()

    run(test())


@pytest.mark.parametrize("answer", [CONNACK_VERSION_REFUSED, b""], ids=["refuses", "hangs up"])
def test_a_broker_that_knows_only_mqtt_3_is_spoken_to_in_it(
    answer: bytes, mosquitto: Mosquitto, topics: Topics
) -> None:
    async def test() -> None:
        with only_mqtt_3(mosquitto.port, answer) as (port, levels):
            async with running_link(port, topics) as (link, receiver):
                assert link.status.protocol == "3.1.1"
                assert levels == [5, 4]
                await link.publish(topics.result, b"{}", correlation_data=b"left out")
                with Peer(mosquitto.port) as peer:
                    peer.publish(topics.own + "/say", "stored", retain=True)
                    assert not (await receiver.next()).retain
                mosquitto.restart()
                await receiver.connected()
                assert levels[2:] == [4] * len(levels[2:])  # remembered

    run(test())


def test_the_address_of_an_ipv6_broker_can_be_read() -> None:
    assert LinkSettings(host="::1", client_id="x").address == "[::1]:1883"
    assert LinkSettings(host="broker.local", port=8883, client_id="x").address == "broker.local:8883"


def tls_config(certificates: Path) -> tuple[str, ...]:
    return (
        "allow_anonymous true",
        f"cafile {certificates / 'ca.crt'}",
        f"certfile {certificates / 'broker.crt'}",
        f"keyfile {certificates / 'broker.key'}",
    )


@contextmanager
def only_mqtt_3(broker_port: int, answer: bytes) -> Iterator[tuple[int, list[int]]]:
    """A gate before a broker that gives clients of MQTT 5 the `answer`, and notes the levels they ask for."""
    levels: list[int] = []
    gate = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = gate.accept()
            except OSError:
                return  # the gate is closed
            threading.Thread(target=let_through, args=(client,), daemon=True).start()

    def let_through(client: socket.socket) -> None:
        with client:
            connect = client.recv(65536)
            level = connect[connect.index(b"MQTT") + 4]
            levels.append(level)
            if level == 5:
                client.sendall(answer)
                return
            try:
                broker = socket.create_connection(("127.0.0.1", broker_port), timeout=5)
            except OSError:
                return
            with broker:
                broker.sendall(connect)
                threading.Thread(target=pass_on, args=(broker, client), daemon=True).start()
                pass_on(client, broker)

    def pass_on(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except (OSError, ssl.SSLError):
            return  # one end is gone, the other notices by itself

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield gate.getsockname()[1], levels
    finally:
        gate.shutdown(socket.SHUT_RDWR)
        gate.close()
