"""The first packet of a client, read before amqtt sees the connection.

amqtt knows MQTT 3.1.1 only: it takes the properties of an MQTT 5 client for the client's name, waits for
the rest of it, and the client waits for an answer. A client that knows both needs the refusal.
"""

import asyncio

from amqtt.adapters import StreamReaderAdapter
from amqtt.errors import MQTTError

MAX_CONNECT_BYTES = 2**16  # client id, will and login; our own CONNECT has under 300
MQTT_3_1_1 = 4  # protocol level, section 3.1.2.2
CONNACK_VERSION_REFUSED = b"\x20\x02\x00\x01"  # section 3.2.2.3
_CONNECT = 0x10
_PROTOCOL_NAME = b"\x00\x04MQTT"


class Replay(StreamReaderAdapter):  # type: ignore[misc]  # amqtt has no types that mypy sees
    """A connection of which the first packet has been read already."""

    def __init__(self, packet: bytes, reader: asyncio.StreamReader) -> None:
        super().__init__(reader)
        self._packet = packet

    async def read(self, n: int = -1) -> bytes:
        if not self._packet:
            return bytes(await super().read(n))
        if not 0 <= n <= len(self._packet):
            raise MQTTError("the CONNECT packet is shorter than it says")
        part, self._packet = self._packet[:n], self._packet[n:]
        return part


async def read_connect(reader: asyncio.StreamReader) -> bytes:
    """The whole CONNECT packet. Raises `EOFError` when the client sends something else, or goes away."""
    head = await reader.readexactly(2)
    if head[0] != _CONNECT:
        raise EOFError("not an MQTT client")
    length, shift, byte = head[1] & 0x7F, 7, head[1]
    while byte & 0x80:  # section 2.2.3: seven bits a byte, the lowest first
        head += await reader.readexactly(1)
        byte = head[-1]
        length |= (byte & 0x7F) << shift
        shift += 7
        if length > MAX_CONNECT_BYTES or shift > 28:
            raise EOFError("the CONNECT packet is too long")
    return head + await reader.readexactly(length)


def is_mqtt_3_1_1(connect: bytes) -> bool:
    start = connect.find(_PROTOCOL_NAME, 2, 5 + len(_PROTOCOL_NAME))
    level = start + len(_PROTOCOL_NAME)
    return start > 0 and connect[level : level + 1] == bytes([MQTT_3_1_1])
