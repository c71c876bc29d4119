"""A visit to something that is no broker, or one that refuses, ends in one sentence and in time."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from daemon.mqtt.settings import LinkSettings
from daemon.mqtt.visitor import CallError, Visitor
from tests.mqtt.mosquitto import free_port

CONNACK = b"\x20\x02\x00\x00"
CONNACK_NOT_AUTHORISED = b"\x20\x02\x00\x05"  # MQTT 3.1.1, section 3.2.2.3
SUBACK_REFUSED = b"\x90\x04\x00\x01\x01\x80"  # the first topic granted, the second not; section 3.9.3


@contextmanager
def server(*answers: bytes) -> Iterator[int]:
    """Gives one answer for each packet that one client sends, then only listens; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            client, _ = listening.accept()
            with client:
                client.settimeout(10)
                for answer in answers:
                    client.recv(4096)
                    client.sendall(answer)
                while client.recv(4096):
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(10)


def visit(port: int, deadline_s: float = 5.0, host: str = "127.0.0.1") -> None:
    settings = LinkSettings(host=host, port=port, client_id="visitor")
    with Visitor(settings, ("a", "b"), lambda *_: None, deadline_s):
        pass


def test_a_broker_that_refuses_the_user() -> None:
    with server(CONNACK_NOT_AUTHORISED) as port, pytest.raises(CallError, match="refuses: Not authorized"):
        visit(port)


def test_a_broker_that_does_not_let_the_user_read_names_the_topic() -> None:
    with (
        server(CONNACK, SUBACK_REFUSED) as port,
        pytest.raises(CallError, match=r"refuses: this user may not read b$"),
    ):
        visit(port)


def test_what_never_answers_costs_the_deadline_and_no_more() -> None:
    began_s = time.monotonic()
    with server() as port, pytest.raises(CallError, match="does not speak MQTT"):
        visit(port, deadline_s=0.3)
    assert 0.3 <= time.monotonic() - began_s < 3


@pytest.mark.parametrize("host", ["127.0.0.1", "a..b", "x" * 70])
def test_no_broker_is_one_sentence(host: str) -> None:
    with pytest.raises(CallError, match="no MQTT broker answers at"):
        visit(free_port(), host=host)
