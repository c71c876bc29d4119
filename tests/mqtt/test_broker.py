"""The embedded broker: sessions, retained messages and wills hold, and the process is looked after."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO, cast

import pytest

from daemon.children.frames import Codec, Ready
from daemon.mqtt.embedded import BrokerAddress, BrokerError, EmbeddedBroker, is_broker
from daemon.mqtt.topics import Topics
from tests.mqtt.conftest import Receiver, run, running_link
from tests.mqtt.mosquitto import Mosquitto, free_port
from tests.mqtt.peer import Peer

ACCEPTED = b"\x20\x02\x00\x00"  # CONNACK, MQTT 3.1.1, section 3.2
RESUMED = b"\x20\x02\x01\x00"


@asynccontextmanager
async def running_broker() -> AsyncIterator[tuple[EmbeddedBroker, int]]:
    broker = EmbeddedBroker(port=0)
    address = await broker.start()
    assert address.embedded
    try:
        yield broker, address.port
    finally:
        await broker.stop()


def test_a_thousand_messages_each_answered_lose_none(topics: Topics) -> None:
    count = 1000

    async def test() -> None:
        async with running_broker() as (_, port), running_link(port, topics) as (link, receiver):
            assert link.status.protocol == "3.1.1"
            with Peer(port) as peer:
                for number in range(count):
                    peer.publish_soon(topics.own + "/say", str(number))
                deliveries = [await receiver.next() for _ in range(count)]
                await asyncio.gather(*(link.publish(topics.result, d.payload) for d in deliveries))
            assert [int(delivery.payload) for delivery in deliveries] == list(range(count))

    run(test())


def test_what_comes_while_the_daemon_is_away_waits_for_it(topics: Topics) -> None:
    async def test() -> None:
        async with running_broker() as (_, port):
            async with running_link(port, topics) as (_, receiver):
                pass
            with Peer(port) as peer:
                for number in range(300):
                    peer.publish(topics.own + "/say", str(number))
            async with running_link(port, topics, receiver, wait=False):
                assert await receiver.connected() == (True, True)
                deliveries = [await receiver.next() for _ in range(300)]
        assert [int(delivery.payload) for delivery in deliveries] == list(range(300))
        assert not any(delivery.retain for delivery in deliveries)

    run(test())


def test_a_message_without_acknowledgement_comes_again_marked_as_duplicate(topics: Topics) -> None:
    async def test() -> None:
        async with running_broker() as (_, port):
            receiver = Receiver()
            receiver.acknowledge = False
            async with running_link(port, topics, receiver):
                with Peer(port) as peer:
                    peer.publish(topics.own + "/say", "once")
                assert not (await receiver.next()).dup
            receiver.acknowledge = True
            async with running_link(port, topics, receiver):
                again = await receiver.next()
                assert (again.payload, again.dup, again.retain) == (b"once", True, False)
            async with running_link(port, topics, receiver) as (link, _):
                await link.round_trip(5)
                assert receiver.deliveries.empty()

    run(test())


def test_a_client_that_acknowledges_nothing_gets_no_more_than_the_window(topics: Topics) -> None:
    async def test() -> None:
        async with running_broker() as (_, port):
            receiver = Receiver()
            receiver.acknowledge = False
            async with running_link(port, topics, receiver) as (link, _):
                with Peer(port) as peer:
                    for number in range(250):
                        peer.publish(topics.own + "/say", str(number))
                first = [await receiver.next() for _ in range(100)]
                await link.round_trip(5)
                assert receiver.deliveries.empty()
                receiver.acknowledge = True
                for delivery in first:
                    link.acknowledge(delivery)
                rest = [await receiver.next() for _ in range(150)]
            assert [int(delivery.payload) for delivery in (*first, *rest)] == list(range(250))

    run(test())


def test_a_client_that_is_cut_off_gets_its_messages_on_the_next_connection(topics: Topics) -> None:
    async def test() -> None:
        async with running_broker() as (_, port), running_link(port, topics) as (link, receiver):
            with Peer(port, topics.availability) as peer:
                for number in range(20):
                    # A second connection with the same client id takes over the session, and dies at once.
                    usurper = socket.create_connection(("127.0.0.1", port))
                    usurper.sendall(connect_packet(f"cosyvoiced-{topics.node}"))
                    assert await asyncio.to_thread(usurper.recv, 4) == RESUMED
                    usurper.close()
                    await receiver.connected()
                    await link.round_trip(5)
                    peer.publish(topics.own + "/say", str(number))
                    delivery = await receiver.next()
                    while delivery.dup:  # the acknowledgement was cut off with its connection
                        delivery = await receiver.next()
                    assert delivery.payload == str(number).encode()

    run(test())


def test_a_client_that_takes_over_its_own_half_open_connection_is_served(topics: Topics) -> None:
    async def test() -> None:
        async with running_broker() as (_, port):
            half_open = socket.create_connection(("127.0.0.1", port))
            half_open.sendall(connect_packet(f"cosyvoiced-{topics.node}"))
            assert await asyncio.to_thread(half_open.recv, 4) == ACCEPTED
            async with running_link(port, topics, wait=False) as (link, receiver):
                assert await receiver.connected() == (True, True)
                await link.round_trip(5)
                with Peer(port) as peer:
                    peer.publish(topics.own + "/say", "still here")
                assert (await receiver.next()).payload == b"still here"
            half_open.close()

    run(test())


def test_a_stored_message_is_replayed_to_its_subscribers_only_and_marked(topics: Topics) -> None:
    async def test() -> None:
        async with running_broker() as (_, port):
            with Peer(port) as peer:
                peer.publish(topics.own + "/say", "stored", retain=True)
                peer.publish("somebody/else", "private", retain=True)
                with Peer(port, "somebody/else"):
                    async with running_link(port, topics) as (link, receiver):
                        stored = await receiver.next()
                        assert (stored.payload, stored.retain) == (b"stored", True)
                        peer.publish(topics.own + "/say", "live", retain=True)
                        live = await receiver.next()
                        assert (live.payload, live.retain) == (b"live", False)
                        await link.round_trip(5)
                        assert receiver.deliveries.empty()

    run(test())


def test_the_will_of_a_client_that_is_cut_off_is_told_and_kept(topics: Topics) -> None:
    async def test() -> None:
        async with running_broker() as (_, port):
            with Peer(port, topics.availability) as peer:
                doomed = socket.create_connection(("127.0.0.1", port))
                doomed.sendall(connect_packet("doomed", will=(topics.availability, "offline")))
                assert await asyncio.to_thread(doomed.recv, 4) == ACCEPTED
                doomed.close()
                assert (await asyncio.to_thread(peer.receive)).payload == b"offline"
            with Peer(port, topics.availability) as late:
                kept = await asyncio.to_thread(late.receive)
                assert (kept.payload, kept.retain) == (b"offline", True)

    run(test())


def test_a_large_payload_arrives_whole(topics: Topics) -> None:
    payload = os.urandom(3 * 2**20)

    async def test() -> None:
        async with running_broker() as (_, port), running_link(port, topics) as (_, receiver):
            with Peer(port) as peer:
                peer.publish(topics.own + "/say", payload)
            assert (await receiver.next()).payload == payload

    run(test())


def test_a_killed_broker_comes_back_on_the_same_port_and_the_link_with_it(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.mqtt.embedded.RESTART_MIN_S", 0.05)

    async def test() -> None:
        async with running_broker() as (broker, port), running_link(port, topics) as (link, receiver):
            first = broker.pid
            assert first is not None
            os.kill(first, signal.SIGKILL)
            assert await receiver.connected() == (False, False)
            await link.round_trip(5)
            assert broker.pid not in (None, first)
            with Peer(port) as peer:
                peer.publish(topics.own + "/say", "after all")
            assert (await receiver.next()).payload == b"after all"

    run(test())


def test_a_broker_that_is_there_already_is_used(
    mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    async def test() -> None:
        broker = EmbeddedBroker(port=mosquitto.port)
        assert await broker.start() == BrokerAddress("127.0.0.1", mosquitto.port, embedded=False)
        await broker.stop()

    run(test())
    assert f"using the MQTT broker that is already running at 127.0.0.1:{mosquitto.port}" in caplog.text
    assert "probe" in mosquitto.log


def test_a_port_taken_by_something_else_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.mqtt.embedded.PROBE_DEADLINE_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        async def test() -> None:
            with pytest.raises(
                BrokerError, match=f"127.0.0.1:{port} is taken by something that is not an MQTT"
            ):
                await EmbeddedBroker(port=port).start()

        run(test())


def test_an_address_that_cannot_be_listened_on_is_one_clear_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    with socket.socket() as bound:  # but not listening: nothing answers, and nobody else can have it
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]

        async def test() -> None:
            with pytest.raises(BrokerError, match=rf"did not start at 127\.0\.0\.1:{port}: .*exit code 3"):
                await EmbeddedBroker(port=port).start()

        run(test())
    assert f"cannot listen on 127.0.0.1:{port}" in caplog.text


def test_nothing_answers_where_nothing_listens() -> None:
    async def test() -> None:
        assert not await is_broker("127.0.0.1", free_port())

    run(test())


def test_the_process_ends_with_its_stdin() -> None:
    command = [sys.executable, "-m", "daemon.mqtt.broker", "--port", "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ready = Codec[Ready](Ready).read_blocking(cast(BinaryIO, process.stdout))
        assert ready is not None
        with Peer(ready.details["port"]):
            process.stdin.close()
            assert process.wait(10) == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_only_this_machine_can_be_served(host: str) -> None:
    command = [sys.executable, "-m", "daemon.mqtt.broker", "--host", host]
    process = subprocess.run(command, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
    assert process.returncode == 2
    assert f"{host} can be reached by other machines" in process.stderr


def test_an_address_that_others_can_reach_is_refused_before_anything_starts() -> None:
    async def test() -> None:
        with pytest.raises(BrokerError, match=r"0\.0\.0\.0 can be reached by others"):
            await EmbeddedBroker("0.0.0.0").start()

    run(test())


def test_the_daemon_itself_never_loads_the_broker() -> None:
    code = "import sys, daemon.mqtt.link, daemon.mqtt.embedded; sys.exit('amqtt' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=20).returncode == 0


def connect_packet(client_id: str, will: tuple[str, str] | None = None) -> bytes:
    """MQTT 3.1.1, section 3.1: a CONNECT that resumes the session of `client_id`; the will is retained."""
    flags = b"\x2c" if will else b"\x00"
    strings = b"".join(len(s.encode()).to_bytes(2, "big") + s.encode() for s in (client_id, *(will or ())))
    body = b"\x00\x04MQTT\x04" + flags + b"\x00\x1e" + strings
    assert len(body) < 128, "the length would need a second byte"
    return b"\x10" + bytes([len(body)]) + body
