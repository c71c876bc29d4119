"""Zeroconf: found while the server is there, taken back when it goes."""

import asyncio
import logging

import pytest
from zeroconf import ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from daemon.wyoming import discovery
from daemon.wyoming.discovery import SERVICE_TYPE, Discovery
from tests.synthesis.company import until

PORT = 10200


async def test_a_browser_finds_the_server_and_sees_it_go() -> None:
    node = "küche-test"
    seen: dict[str, ServiceStateChange] = {}

    def note(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        seen[name] = state_change

    async with AsyncZeroconf(interfaces=["127.0.0.1"]) as ears:
        browser = AsyncServiceBrowser(ears.zeroconf, SERVICE_TYPE, handlers=[note])
        telling = asyncio.create_task(Discovery(node, ["127.0.0.1"], PORT).run())
        name = f"{node}.{SERVICE_TYPE}"
        await until(lambda: seen.get(name) == ServiceStateChange.Added)
        found = AsyncServiceInfo(SERVICE_TYPE, name)
        assert await found.async_request(ears.zeroconf, 3000)
        assert (found.port, found.parsed_addresses()) == (PORT, ["127.0.0.1"])
        telling.cancel()
        await asyncio.wait({telling})
        await until(lambda: seen[name] == ServiceStateChange.Removed)
        await browser.async_cancel()


async def test_without_a_network_it_warns_once_and_waits_for_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looked: list[object] = []

    def nothing(bound_to: object) -> tuple[str, ...]:
        looked.append(bound_to)
        return ()

    monkeypatch.setattr(discovery, "LOOK_INTERVAL_S", 0.01)
    monkeypatch.setattr(discovery, "reachable", nothing)
    telling = asyncio.create_task(Discovery("test", ["0.0.0.0"], PORT).run())
    await until(lambda: len(looked) > 3)
    telling.cancel()
    await asyncio.wait({telling})
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings == ["zeroconf cannot tell of the Wyoming server: there is no network"]


async def test_a_network_that_cannot_be_used_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(**_: object) -> None:
        raise OSError("Operation not permitted")

    monkeypatch.setattr(discovery, "AsyncZeroconf", refused)
    telling = asyncio.create_task(Discovery("test", ["127.0.0.1"], PORT).run())
    await until(lambda: "cannot tell of the Wyoming server" in caplog.text)
    telling.cancel()
    await asyncio.wait({telling})


def test_addresses_are_those_that_others_reach() -> None:
    assert discovery.reachable(["127.0.0.1", "10.0.0.7", "fe80::1%eth0"]) == ("10.0.0.7", "127.0.0.1")
    assert all(not address.startswith("127.") for address in discovery.reachable(["0.0.0.0", "::"]))


@pytest.mark.parametrize("node", ["speaker", "a.b", "厨房" * 20, "x" * 64])
def test_any_node_makes_a_name_that_zeroconf_takes(node: str) -> None:
    service = discovery.service(node, ["10.0.0.7"], PORT)
    assert len(service.name.removesuffix(f".{SERVICE_TYPE}").encode()) <= discovery.MAX_LABEL_BYTES
