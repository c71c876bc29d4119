"""The watchdog is fed while every part answers, or says that it cannot; never for one that is silent."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from daemon.mqtt.link import Link
from daemon.mqtt.settings import LinkError
from daemon.mqtt.traffic import LinkStatus
from daemon.sd_notify import Notifier
from daemon.watch.health import CONNECTING_S, BrokerProbe, Health, Silent
from tests.fakes.systemd import Systemd


class Part:
    """Answers, or does not."""

    def __init__(self) -> None:
        self.silent = False

    async def __call__(self) -> None:
        if self.silent:
            raise Silent("the part says nothing")


class FakeLink:
    def __init__(self) -> None:
        self.connected = True
        self.deaf = False
        self.idle_s = 0.0

    @property
    def status(self) -> LinkStatus:
        return LinkStatus(address="here", connected=self.connected, protocol="5", last_error=None, waiting=0)

    def hang_up(self) -> None:
        self.connected = False

    async def round_trip(self, deadline_s: float) -> float:
        if self.deaf:
            raise LinkError(f"did not come back in {deadline_s:g} s")
        return 0.001


async def test_the_watchdog_is_fed_until_a_part_has_been_silent_for_too_long(tmp_path: Path) -> None:
    part = Part()
    with Systemd(tmp_path, watchdog_s=0.2) as systemd:
        notifier = Notifier(systemd.address, systemd.watchdog_s)
        health = Health({"one": part, "other": Part()}, notifier, lambda: "idle")
        await health.look()
        assert systemd.told() == ["WATCHDOG=1", "READY=1", "STATUS=idle"]
        part.silent = True
        await health.look()
        assert systemd.told().count("WATCHDOG=1") == 2  # it answered lately
        assert health.problems == ("the part says nothing",)
        await asyncio.sleep(0.25)
        await health.look()
        assert systemd.told().count("WATCHDOG=1") == 2
        part.silent = False
        await health.look()
        assert systemd.told().count("WATCHDOG=1") == 3
        assert not health.problems


async def test_a_probe_that_hangs_is_a_silent_part_and_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.watch.health.PROBE_DEADLINE_S", 0.05)

    async def hang() -> None:
        await asyncio.Event().wait()

    with Systemd(tmp_path, watchdog_s=60) as systemd:
        health = Health(
            {"stuck": hang, "other": Part()}, Notifier(systemd.address, systemd.watchdog_s), lambda: None
        )
        async with asyncio.timeout(2):
            await health.look()
        assert health.problems == ("the stuck did not answer",)
        assert systemd.told() == ["WATCHDOG=1"]


async def test_a_connection_that_delivers_nothing_any_more_is_silent() -> None:
    link = FakeLink()
    probe = BrokerProbe(cast(Link, link))
    await probe()
    link.deaf = True
    with pytest.raises(Silent, match="did not come back"):
        await probe()
    assert not link.connected  # it was hung up, so as to try anew
    await probe()


async def test_a_broker_that_is_away_is_no_reason_to_end_the_daemon() -> None:
    link = FakeLink()
    probe = BrokerProbe(cast(Link, link))
    await probe()
    link.connected, link.deaf = False, True
    await probe()


async def test_a_network_thread_that_stands_still_is_silent_connected_or_not() -> None:
    link = FakeLink()
    link.connected, link.idle_s = False, CONNECTING_S + 1
    with pytest.raises(Silent, match="stands still"):
        await BrokerProbe(cast(Link, link))()


async def test_access_control_that_keeps_our_own_message_from_us_ends_nothing() -> None:
    link = FakeLink()
    link.deaf = True
    probe = BrokerProbe(cast(Link, link))
    await probe()
    await probe()
