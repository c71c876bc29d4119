"""The link in everyday use, against a real Mosquitto."""

import asyncio
import logging

import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from daemon.mqtt.settings import LinkError
from daemon.mqtt.topics import TopicError, Topics
from daemon.mqtt.traffic import Delivery
from tests.mqtt.conftest import Receiver, StartMosquitto, new_link, run, running_link, settings_for, until
from tests.mqtt.mosquitto import Mosquitto
from tests.mqtt.peer import Peer


def test_a_message_arrives_with_all_that_mqtt_5_tells_of_it(mosquitto: Mosquitto, topics: Topics) -> None:
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    properties.ResponseTopic = "reply/here"
    properties.CorrelationData = b"\x00\xff"
    properties.MessageExpiryInterval = 60

    async def test() -> None:
        async with running_link(mosquitto.port, topics) as (link, receiver):
            with Peer(mosquitto.port, v5=True) as peer:
                peer.publish(f"{topics.own}/say/happy", "洗衣机已经洗好了".encode(), properties=properties)
            delivery = await receiver.next()
            assert link.status.protocol == "5"
            assert delivery.topic == f"{topics.own}/say/happy"
            assert delivery.payload.decode() == "洗衣机已经洗好了"
            assert (delivery.qos, delivery.retain, delivery.dup) == (1, False, False)
            assert delivery.response_topic == "reply/here"
            assert delivery.correlation_data == b"\x00\xff"
            assert delivery.message_expiry_s is not None
            assert 50 <= delivery.message_expiry_s <= 60

    run(test())


def test_every_topic_of_the_device_is_heard_and_no_other(mosquitto: Mosquitto, topics: Topics) -> None:
    heard = [
        f"{topics.own}/say", f"{topics.own}/say/sad", f"{topics.own}/command/stop", f"{topics.own}/set/x",
        "test/group/upstairs/say", "test/all/say",
    ]  # fmt: skip
    unheard = [f"{topics.own}/result", f"{topics.own}/say/a/b", "test/group/downstairs/say", "test/other/say"]

    async def test() -> None:
        async with running_link(mosquitto.port, topics) as (_, receiver):
            with Peer(mosquitto.port) as peer:
                for topic in (*unheard, *heard):
                    peer.publish(topic, "x")
            assert [(await receiver.next()).topic for _ in heard] == heard

    run(test())


def test_a_published_message_reaches_others_before_its_future_is_done(
    mosquitto: Mosquitto, topics: Topics
) -> None:
    async def test() -> None:
        with Peer(mosquitto.port, f"{topics.own}/#", v5=True) as peer:
            async with running_link(mosquitto.port, topics) as (link, _):
                await link.publish(topics.result, b"{}", correlation_data=b"42", response_topic="to/me")
                message = peer.wait_for(topics.result, b"{}")
                assert vars(message.properties)["CorrelationData"] == b"42"
                assert vars(message.properties)["ResponseTopic"] == "to/me"

    run(test())


def test_a_stored_message_is_told_from_a_live_one_with_the_retain_flag(
    mosquitto: Mosquitto, topics: Topics
) -> None:
    async def test() -> None:
        with Peer(mosquitto.port) as peer:
            peer.publish(topics.own + "/say", "stored", retain=True)
            async with running_link(mosquitto.port, topics) as (_, receiver):
                stored = await receiver.next()
                peer.publish(topics.own + "/say", "live", retain=True)
                live = await receiver.next()
        assert (stored.payload, stored.retain) == (b"stored", True)
        assert (live.payload, live.retain) == (b"live", False)

    run(test())


def test_a_thousand_messages_each_answered_lose_none(mosquitto: Mosquitto, topics: Topics) -> None:
    count = 1000

    async def test() -> None:
        receiver = Receiver()
        async with running_link(mosquitto.port, topics, receiver) as (link, _):
            with Peer(mosquitto.port) as peer:
                for number in range(count):
                    peer.publish_soon(topics.own + "/say", str(number))
                answers = []
                numbers = []
                for _ in range(count):
                    delivery = await receiver.next()
                    numbers.append(int(delivery.payload))
                    answers.append(link.publish(topics.result, delivery.payload))
                await asyncio.gather(*answers)
            assert numbers == list(range(count))
            assert link.status.waiting == 0

    run(test())


def test_a_failing_handler_does_not_stop_the_next_message(
    mosquitto: Mosquitto, topics: Topics, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Receiver):
        def on_message(self, delivery: Delivery) -> None:
            if delivery.payload == b"poison":
                raise RuntimeError("cannot take this one")
            super().on_message(delivery)

    async def test() -> None:
        async with running_link(mosquitto.port, topics, Failing()) as (link, receiver):
            with Peer(mosquitto.port) as peer:
                peer.publish(topics.own + "/say", "poison")
                peer.publish(topics.own + "/say", "good")
            assert (await receiver.next()).payload == b"good"
            assert await link.round_trip(5) < 5

    run(test())
    assert "cannot take this one" in caplog.text


def test_a_message_larger_than_the_broker_takes_is_refused_here(
    start_mosquitto: StartMosquitto, topics: Topics
) -> None:
    broker = start_mosquitto("allow_anonymous true", "max_packet_size 2000")

    async def test() -> None:
        async with running_link(broker.port, topics) as (link, _):
            with pytest.raises(LinkError, match=r"2001 bytes to .* more than the MQTT broker takes"):
                link.publish(topics.result, b"x" * 2001)
            await link.publish(topics.result, b"x" * 1500)
            assert link.status.connected

    run(test())


def test_a_message_that_waited_is_refused_when_the_broker_turns_out_to_take_less(
    start_mosquitto: StartMosquitto, topics: Topics
) -> None:
    broker = start_mosquitto("allow_anonymous true", "max_packet_size 2000")
    broker.stop()

    async def test() -> None:
        async with running_link(broker.port, topics, wait=False) as (link, receiver):
            large = link.publish(topics.result, b"x" * 3000)
            small = link.publish(topics.result, b"x")
            broker.start()
            await receiver.connected()
            await small
            with pytest.raises(LinkError, match="3000 bytes"):
                await large

    run(test())


@pytest.mark.parametrize("topic", ["", "a/+/b", "a/#", "$SYS/x", "a\x00b", "a\nb"])
def test_nothing_is_published_to_a_topic_that_is_none(
    topic: str, mosquitto: Mosquitto, topics: Topics
) -> None:
    async def test() -> None:
        async with running_link(mosquitto.port, topics) as (link, _):
            with pytest.raises(TopicError):
                link.publish(topic, b"x")

    run(test())


def test_a_round_trip_is_measured_and_without_a_broker_fails_in_time(
    mosquitto: Mosquitto, topics: Topics
) -> None:
    async def test() -> None:
        async with running_link(mosquitto.port, topics) as (link, _):
            assert 0 < await link.round_trip(5) < 5
            mosquitto.kill()
            await until(lambda: not link.status.connected)
            with pytest.raises(LinkError, match="MQTT broker"):
                await link.round_trip(5)

    run(test())


def test_offline_is_published_on_stop_and_the_queue_goes_out_before(
    mosquitto: Mosquitto, topics: Topics
) -> None:
    async def test() -> None:
        with Peer(mosquitto.port, f"{topics.own}/#") as peer:
            async with running_link(mosquitto.port, topics) as (link, _):
                await link.publish(topics.availability, b"online", retain=True)
                last = link.publish(topics.result, b"last words")
            assert last.done()
            assert last.exception() is None
            topics_seen = [peer.receive()]
            while topics_seen[-1].payload != b"offline":
                topics_seen.append(peer.receive())
        assert [(m.topic, m.payload) for m in topics_seen if m.topic != topics.heartbeat] == [
            (topics.availability, b"online"),
            (topics.result, b"last words"),
            (topics.availability, b"offline"),
        ]

    run(test())


def test_a_link_that_is_not_running_takes_no_messages(topics: Topics) -> None:
    async def test() -> None:
        link = new_link(settings_for(1, topics), topics, Receiver())
        with pytest.raises(LinkError, match="not running"):
            link.publish(topics.result, b"x")

    run(test())


def test_the_password_is_in_no_log_and_no_text_form(
    start_mosquitto: StartMosquitto, topics: Topics, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = settings_for(1, topics, username="me", password="very secret")
    assert "very secret" not in repr(settings)

    async def test() -> None:
        broker = start_mosquitto()
        async with running_link(broker.port, topics, username="me", password="very secret"):
            pass

    run(test())
    assert "very secret" not in caplog.text
