"""The link when the broker, the network or another client misbehaves."""

import asyncio
import logging
import socket
import subprocess
import sys
import textwrap

import paho.mqtt.client as paho
import pytest

from daemon.mqtt.connection import Connection
from daemon.mqtt.settings import LinkError
from daemon.mqtt.topics import Topics
from tests.mqtt.conftest import Receiver, StartMosquitto, run, running_link, until
from tests.mqtt.mosquitto import Mosquitto, free_port
from tests.mqtt.peer import Peer


def test_a_broker_that_is_down_at_start_is_waited_for(
    mosquitto: Mosquitto, topics: Topics, caplog: pytest.LogCaptureFixture
) -> None:
    mosquitto.stop()

    async def test() -> None:
        async with running_link(mosquitto.port, topics, wait=False) as (link, receiver):
            early = link.publish(topics.result, b"early")
            await until(lambda: link.status.last_error is not None)
            assert "nothing listens at" in str(link.status.last_error)
            await asyncio.sleep(0.5)  # several attempts
            mosquitto.start()
            assert await receiver.connected() == (False, True)
            await early
            assert link.status.connected

    run(test())
    assert caplog.text.count("nothing listens at") == 1


def test_a_broker_that_keeps_the_session_delivers_what_came_in_meanwhile(
    start_mosquitto: StartMosquitto, topics: Topics
) -> None:
    broker = start_mosquitto("allow_anonymous true", *Mosquitto.PERSISTENT)

    async def test() -> None:
        async with running_link(broker.port, topics) as (_, receiver):
            pass
        with Peer(broker.port) as peer:
            peer.publish(topics.own + "/say", "while you were out")
        broker.restart()
        async with running_link(broker.port, topics, receiver, wait=False):
            assert await receiver.connected() == (True, True)
            delivery = await receiver.next()
            assert (delivery.payload, delivery.retain) == (b"while you were out", False)

    run(test())


def test_a_broker_that_lost_the_session_is_subscribed_to_again(mosquitto: Mosquitto, topics: Topics) -> None:
    async def test() -> None:
        async with running_link(mosquitto.port, topics) as (link, receiver):
            mosquitto.restart()
            assert await receiver.connected() == (False, False)
            await link.round_trip(5)
            with Peer(mosquitto.port) as peer:
                peer.publish(topics.own + "/say", "hello again")
            assert (await receiver.next()).payload == b"hello again"

    run(test())


def test_a_message_without_acknowledgement_comes_again_after_a_reconnect(
    start_mosquitto: StartMosquitto, topics: Topics
) -> None:
    broker = start_mosquitto("allow_anonymous true", *Mosquitto.PERSISTENT)

    async def test() -> None:
        async with running_link(broker.port, topics) as (link, receiver):
            receiver.acknowledge = False
            with Peer(broker.port) as peer:
                peer.publish(topics.own + "/say", "once")
                peer.publish(topics.own + "/say", "twice")
            first, second = await receiver.next(), await receiver.next()
            link.acknowledge(first)
            await link.round_trip(5)
            broker.restart()
            await receiver.connected()
            again = await receiver.next()
            assert (again.payload, again.dup) == (b"twice", True)
            assert again.connection != second.connection
            link.acknowledge(second)  # of a connection that is gone: must not reach the broker
            broker.restart()
            await receiver.connected()
            assert (await receiver.next()).payload == b"twice"

    run(test())


def test_what_was_published_while_the_broker_was_away_goes_out_in_order(
    mosquitto: Mosquitto, topics: Topics
) -> None:
    count = 300

    async def test() -> None:
        async with running_link(mosquitto.port, topics) as (link, receiver):
            mosquitto.kill()
            await until(lambda: not link.status.connected)
            waiting = [link.publish(topics.result, str(number).encode()) for number in range(count)]
            assert link.status.waiting == count
            mosquitto.start()
            with Peer(mosquitto.port, topics.result) as peer:
                await receiver.connected()
                await asyncio.gather(*waiting)
                seen = [int(peer.receive().payload) for _ in range(peer.messages.qsize())]
            assert seen == sorted(seen)

    run(test())


def test_the_queue_is_bounded_and_a_newer_state_replaces_the_older(topics: Topics) -> None:
    async def test() -> None:
        async with running_link(free_port(), topics, wait=False, max_queued=3) as (link, _):
            first = link.publish(topics.state, b"old", retain=True)
            for payload in (b"1", b"2"):
                link.publish(topics.result, payload)
            assert link.publish(topics.state, b"new", retain=True) is first
            with pytest.raises(LinkError, match="3 messages wait"):
                link.publish(topics.result, b"3")
        with pytest.raises(LinkError, match="stopped before"):
            await first

    run(test())


def test_stopping_is_quick_while_the_broker_is_away(topics: Topics) -> None:
    async def test() -> None:
        async with asyncio.timeout(3):
            async with running_link(free_port(), topics, wait=False, retry_min_s=60.0):
                await asyncio.sleep(0.1)

    run(test())


def test_something_that_never_answers_is_given_up_and_named(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.mqtt.connection.ANSWER_DEADLINE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:

        async def test() -> None:
            async with running_link(silent.getsockname()[1], topics, wait=False) as (link, _):
                await until(lambda: link.status.last_error is not None)
                assert "does not answer" in str(link.status.last_error)

        run(test())


def test_two_daemons_with_one_name_are_told_apart_in_one_sentence(
    mosquitto: Mosquitto, topics: Topics, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        async with running_link(mosquitto.port, topics), running_link(mosquitto.port, topics, wait=False):
            await until(lambda: "a node name of its own" in caplog.text)
            await asyncio.sleep(1)  # several more rounds

    run(test())
    sentences = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert sum("a node name of its own" in sentence for sentence in sentences) <= 2  # one from each
    assert all(topics.node in sentence for sentence in sentences if "node name" in sentence)


def test_trouble_is_forgotten_after_a_stable_connection_and_told_anew(
    mosquitto: Mosquitto, topics: Topics, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("daemon.mqtt.connection.STABLE_S", 0.1)
    monkeypatch.setattr("daemon.mqtt.connection.POLL_S", 0.05)

    async def test() -> None:
        async with running_link(mosquitto.port, topics) as (link, receiver):
            for outage in (1, 2):
                mosquitto.kill()
                await until(lambda: "nothing listens" in (link.status.last_error or ""))
                mosquitto.start()
                await receiver.connected()
                await until(lambda: link.status.last_error is None)
                assert caplog.text.count("nothing listens") == outage

    run(test())


def test_an_unforeseen_error_does_not_end_the_network_thread(
    mosquitto: Mosquitto, topics: Topics, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = Connection._poll
    faults = iter([ZeroDivisionError("a bug"), ZeroDivisionError("a bug")])

    def faulty(self: Connection, client: paho.Client) -> None:
        if (fault := next(faults, None)) is not None:
            raise fault
        real(self, client)

    monkeypatch.setattr(Connection, "_poll", faulty)

    async def test() -> None:
        async with running_link(mosquitto.port, topics) as (link, _):
            assert link.status.connected

    run(test())
    assert caplog.text.count("the connection to the MQTT broker failed: a bug") == 1
    assert "Traceback" in caplog.text


def test_the_will_is_delivered_when_the_process_is_killed(mosquitto: Mosquitto, topics: Topics) -> None:
    code = textwrap.dedent(f"""
        import asyncio
        from tests.mqtt.conftest import running_link
        from daemon.mqtt.topics import Topics

        async def main():
            async with running_link({mosquitto.port}, Topics("test", "{topics.node}")):
                print("up", flush=True)
                await asyncio.sleep(30)

        asyncio.run(main())
    """)
    with Peer(mosquitto.port, topics.availability) as peer:
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            process.kill()
        assert peer.receive().payload == b"offline"


def test_a_flood_of_qos_0_is_bounded_while_the_daemon_is_busy(
    mosquitto: Mosquitto, topics: Topics, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("daemon.mqtt.link.MAX_BACKLOG_BYTES", 20_000)

    async def test() -> None:
        receiver = Receiver()
        async with running_link(mosquitto.port, topics, receiver) as (link, _):
            with Peer(mosquitto.port) as peer:  # blocks the event loop, as a busy daemon would
                for _ in range(200):
                    peer.publish(topics.own + "/say", "x", qos=0)
                peer.publish(topics.own + "/say", "QoS 1 is never dropped")
                threads_pause_s = 0.5
                await asyncio.to_thread(lambda: None)
                await asyncio.sleep(threads_pause_s)
            await link.round_trip(5)
        payloads = [receiver.deliveries.get_nowait().payload for _ in range(receiver.deliveries.qsize())]
        assert payloads[-1] == b"QoS 1 is never dropped"
        assert len(payloads) < 200

    run(test())
    assert caplog.text.count("faster than they can be looked at") == 1
