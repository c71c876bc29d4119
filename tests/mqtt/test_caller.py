"""Whoever waits for a daemon's answer can be told that none will come."""

import threading
import time

import pytest

from daemon.mqtt.caller import Caller, CallError
from daemon.mqtt.settings import LinkSettings
from daemon.mqtt.topics import Topics
from tests.mqtt.mosquitto import Mosquitto


def test_hanging_up_ends_the_wait_at_once(mosquitto: Mosquitto, topics: Topics) -> None:
    settings = LinkSettings(host="127.0.0.1", port=mosquitto.port, client_id="caller")
    with Caller(settings, topics) as caller:
        threading.Timer(0.3, caller.hang_up).start()
        began_s = time.monotonic()
        with pytest.raises(CallError, match="stopped"):
            caller.say({"text": "hi"}, 60.0)
        assert time.monotonic() - began_s < 3
