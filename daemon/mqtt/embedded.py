"""The daemon's side of the embedded broker: started, watched, started again; or another one is used."""

import asyncio
import contextlib
import ipaddress
import logging
from dataclasses import dataclass

from daemon.children.child import Child, ChildError
from daemon.children.frames import Codec, Ready
from daemon.errors import CosyvoicedError

log = logging.getLogger(__name__)

START_DEADLINE_S = 20.0  # it takes 0.2 s on a desktop; a first start from a slow SD card takes longer
PROBE_DEADLINE_S = 2.0
RESTART_MIN_S = 0.5
RESTART_MAX_S = 30.0

# MQTT 3.1.1, section 3.1: CONNECT with a clean session, a keep-alive of 10 s and the client id "probe".
_CONNECT = b"\x10\x11\x00\x04MQTT\x04\x02\x00\x0a\x00\x05probe"
_DISCONNECT = b"\xe0\x00"
_CONNACK_HEAD = b"\x20\x02"


class BrokerError(CosyvoicedError):
    """There is no broker, and none can be started; the message says why."""


@dataclass(frozen=True)
class BrokerAddress:
    """Where the broker is."""

    host: str
    port: int
    embedded: bool  # False: somebody else's, found where ours was to be


class EmbeddedBroker:
    """A broker for this machine alone, in a process of its own."""

    def __init__(self, host: str = "127.0.0.1", port: int = 1883) -> None:
        """`port` 0 takes a free one."""
        self._host = host
        self._port = port
        self._child: Child[Ready] | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def rss_bytes(self) -> int:
        return self._child.rss_bytes if self._child is not None else 0

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None else None

    async def start(self) -> BrokerAddress:
        """Starts the broker, or finds one at its address. Raises `BrokerError` when neither is possible."""
        if not is_loopback(self._host):
            raise BrokerError(
                "the embedded MQTT broker serves this machine only, "
                f"and {self._host} can be reached by others: set mqtt.host to 127.0.0.1, "
                "or use an external broker"
            )
        address = await self._launch()
        if address.embedded:
            self._port = address.port  # a restart must come up where the clients look
            self._watch = asyncio.create_task(self._keep_alive(), name="embedded broker")
        return address

    async def stop(self) -> None:
        """Ends the broker's process."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
            self._watch = None
        if self._child is not None:
            await self._child.stop()
            self._child = None

    async def _launch(self) -> BrokerAddress:
        where = f"{self._host}:{self._port}"
        if self._port != 0 and await is_taken(self._host, self._port):
            if not await is_broker(self._host, self._port):
                raise BrokerError(
                    f"{where} is taken by something that is not an MQTT broker: set mqtt.port to a free port"
                )
            log.info("using the MQTT broker that is already running at %s", where)
            return BrokerAddress(self._host, self._port, embedded=False)
        arguments = ("--host", self._host, "--port", str(self._port))
        child = Child("broker", "daemon.mqtt.broker", arguments, Codec[Ready](Ready))
        try:
            ready = await child.start(START_DEADLINE_S)
        except ChildError as error:
            raise BrokerError(f"the embedded MQTT broker did not start at {where}: {error}") from error
        self._child = child
        return BrokerAddress(self._host, int(ready.details["port"]), embedded=True)

    async def _keep_alive(self) -> None:
        """Waits for the broker to end, which it never should, and starts it again."""
        delay_s = RESTART_MIN_S
        while self._child is not None:
            started_at_s = asyncio.get_running_loop().time()
            with contextlib.suppress(ChildError):  # says only that it ended, which the log line below does
                await self._child.receive(None)
            await self._child.kill()
            lasted_s = asyncio.get_running_loop().time() - started_at_s
            delay_s = RESTART_MIN_S if lasted_s > RESTART_MAX_S else min(delay_s * 2, RESTART_MAX_S)
            log.warning("the embedded MQTT broker ended; it is started again in %g s", delay_s)
            await asyncio.sleep(delay_s)
            await self._restart()

    async def _restart(self) -> None:
        """Tries until there is a broker again; one of somebody else's needs no watching."""
        while True:
            try:
                address = await self._launch()
            except BrokerError as error:
                log.warning("%s; trying again in %g s", error, RESTART_MAX_S)
                await asyncio.sleep(RESTART_MAX_S)
                continue
            if not address.embedded:
                self._child = None
            return


async def is_broker(host: str, port: int) -> bool:
    """Whether an MQTT broker answers there, be it with a refusal."""
    try:
        async with asyncio.timeout(PROBE_DEADLINE_S):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(_CONNECT)
                answer = await reader.readexactly(4)
                writer.write(_DISCONNECT)
                await writer.drain()
            finally:
                writer.close()
    except (OSError, EOFError):  # asyncio.IncompleteReadError is an EOFError, TimeoutError an OSError
        return False
    return answer.startswith(_CONNACK_HEAD)


async def is_taken(host: str, port: int) -> bool:
    """Whether something listens there already."""
    try:
        async with asyncio.timeout(PROBE_DEADLINE_S):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return True  # it listens, but does not even accept
    except OSError:
        return False
    writer.close()
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`. A name other than localhost is not looked up."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
