"""Tells the network of the Wyoming server over zeroconf (mDNS): Home Assistant offers it by itself."""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Sequence

from zeroconf import Error as ZeroconfError
from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

log = logging.getLogger(__name__)

SERVICE_TYPE = "_wyoming._tcp.local."
LOOK_INTERVAL_S = 60.0
DEADLINE_S = 10.0
MDNS_ADDRESS = ("224.0.0.251", 5353)  # RFC 6762, section 3
MAX_LABEL_BYTES = 63  # RFC 1035, section 2.3.4


class Discovery:
    """One service, told of for as long as `run` runs."""

    def __init__(self, node: str, bound_to: Sequence[str], port: int) -> None:
        """`bound_to` are the addresses that the server listens at; unspecified ones stand for all."""
        self._node = node
        self._bound_to = bound_to
        self._port = port
        self._problem: str | None = None

    async def run(self) -> None:
        """Tells until cancelled, anew when the addresses change; a network may come late."""
        while True:
            addresses = await asyncio.to_thread(reachable, self._bound_to)
            zeroconf: AsyncZeroconf | None = None
            try:
                zeroconf = await self._tell(addresses)
                await self._until_other(addresses if zeroconf else ())
            finally:
                if zeroconf is not None:
                    await _close(zeroconf)

    async def _tell(self, addresses: tuple[str, ...]) -> AsyncZeroconf | None:
        """Raises nothing but what is a bug: without zeroconf, all else goes on."""
        if not addresses:
            self._warn("there is no network")
            return None
        try:
            zeroconf = AsyncZeroconf(interfaces=list(addresses), ip_version=IPVersion.V4Only)
        except OSError as error:
            self._warn(str(error))
            return None
        try:
            async with asyncio.timeout(DEADLINE_S):
                info = service(self._node, addresses, self._port)
                await (await zeroconf.async_register_service(info, allow_name_change=True))
        except (OSError, ZeroconfError) as error:
            await _close(zeroconf)
            self._warn(str(error) or type(error).__name__)
            return None
        except BaseException:
            await _close(zeroconf)
            raise
        log.info("zeroconf tells of the Wyoming server as %s at %s", info.name, ", ".join(addresses))
        self._problem = None
        return zeroconf

    def _warn(self, problem: str) -> None:
        """Once for each problem."""
        level = logging.DEBUG if problem == self._problem else logging.WARNING
        log.log(level, "zeroconf cannot tell of the Wyoming server: %s", problem)
        self._problem = problem

    async def _until_other(self, told: tuple[str, ...]) -> None:
        while True:
            await asyncio.sleep(LOOK_INTERVAL_S)
            if not told or await asyncio.to_thread(reachable, self._bound_to) != told:
                return


def reachable(bound_to: Sequence[str]) -> tuple[str, ...]:
    """The IPv4 addresses at which others reach a server that listens at `bound_to`; none without network."""
    parsed = [ipaddress.ip_address(address.partition("%")[0]) for address in bound_to]
    found = {str(address) for address in parsed if address.version == 4 and not address.is_unspecified}
    if any(address.is_unspecified for address in parsed):
        found |= {address for address in (_own_address(),) if address is not None}
    return tuple(sorted(found))


def _own_address() -> str | None:
    """The one that multicast leaves from; listing all would take a netlink socket, which systemd denies."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(MDNS_ADDRESS)  # sends nothing: it only finds the way
        except OSError:
            return None
        return str(probe.getsockname()[0])


def service(node: str, addresses: Sequence[str], port: int) -> AsyncServiceInfo:
    """The record of a server."""
    label = node.encode()[:MAX_LABEL_BYTES].decode(errors="ignore")
    return AsyncServiceInfo(
        SERVICE_TYPE, f"{label}.{SERVICE_TYPE}", parsed_addresses=list(addresses), port=port
    )


async def _close(zeroconf: AsyncZeroconf) -> None:
    """Takes the record back and closes."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            await zeroconf.async_unregister_all_services()
            await zeroconf.async_close()
    except (OSError, ZeroconfError) as error:
        log.debug("zeroconf does not end well: %s", error)
