"""What a broker delivers right after a connection, before anything new.

A message that was published with the retain flag while the daemon was away comes twice: stored, with the
flag, because it is subscribed to, and queued, without it, because the broker kept the session. The second
looks like any other. So what comes first is held until a message to ourselves has come back behind it,
and the twins of stored messages are then marked as stored too.
"""

import msgspec

from daemon.mqtt.traffic import Delivery


class Backlog:
    """Holds deliveries between `begin` and `end`."""

    def __init__(self) -> None:
        self._held: list[Delivery] | None = None

    def begin(self) -> list[Delivery]:
        """Starts to hold; what was still held is handed back to be dealt with."""
        left = self.end()
        self._held = []
        return left

    def hold(self, delivery: Delivery) -> bool:
        """Whether it was taken to be held."""
        if self._held is None:
            return False
        self._held.append(delivery)
        return True

    def end(self) -> list[Delivery]:
        """What was held, in order, each stored message and its twin marked with `retain`."""
        held, self._held = self._held or [], None
        stored = {(delivery.topic, delivery.payload) for delivery in held if delivery.retain}
        return [
            msgspec.structs.replace(delivery, retain=True)
            if (delivery.topic, delivery.payload) in stored
            else delivery
            for delivery in held
        ]
