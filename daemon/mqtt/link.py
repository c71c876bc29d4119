"""The daemon's side of MQTT: messages in, messages out, on the event loop.

What comes in is acknowledged to the broker only when the daemon says so (`acknowledge`); what goes out
waits in a bounded queue until the broker has acknowledged it. The network itself is `connection.py`.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from daemon.mqtt.backlog import Backlog
from daemon.mqtt.connection import Connection
from daemon.mqtt.outbox import Outbox, finish, new_future
from daemon.mqtt.settings import LinkError, LinkSettings
from daemon.mqtt.topics import check_publishable
from daemon.mqtt.traffic import Accepted, Delivery, LinkStatus, Outgoing, Subscription

log = logging.getLogger(__name__)

DELIVERY_OVERHEAD_BYTES = 1000  # the objects around a payload, measured generously
CATCH_UP_DEADLINE_S = 5.0
MAX_BACKLOG_BYTES = 32 * 2**20  # messages taken from the network that the daemon has not looked at yet


class Link:
    """The link to one broker; it outlives every connection to it."""

    def __init__(
        self,
        settings: LinkSettings,
        subscriptions: Sequence[str],
        heartbeat_topic: str,
        on_message: Callable[[Delivery], None],
        on_connected: Callable[[bool, bool], None] | None = None,
    ) -> None:
        """`on_connected(session_present, first)` is called after every connection, before its messages."""
        self._settings = settings
        self._heartbeat_topic = heartbeat_topic
        self._on_message = on_message
        self._on_connected = on_connected
        filters = (*map(Subscription, subscriptions), Subscription(heartbeat_topic, qos=0))
        self._connection = Connection(settings, filters, self)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._accepted: Accepted | None = None
        self.connections = 0  # that a broker has accepted
        self._connected = False
        self._last_error: str | None = None
        self._outbox = Outbox(settings.max_queued)
        self._backlog = Backlog()
        self._catching_up: asyncio.Task[None] | None = None
        self._heartbeats: dict[bytes, asyncio.Future[None]] = {}
        self._taken_bytes = 0  # written by the network thread only
        self._seen_bytes = 0  # written on the event loop only
        self._dropped = 0

    @property
    def status(self) -> LinkStatus:
        return LinkStatus(
            address=self._settings.address,
            connected=self._connected,
            protocol=self._accepted.protocol if self._accepted else None,
            last_error=self._last_error,
            waiting=len(self._outbox),
        )

    @property
    def idle_s(self) -> float:
        """Seconds since the network thread last went round, connected or not."""
        return self._connection.idle_s

    async def start(self) -> None:
        """Begins to connect, and returns at once. Raises `LinkError` when the TLS files cannot be used."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._connection.start)

    async def stop(self, offline_payload: bytes | None = None, deadline_s: float = 3.0) -> None:
        """Publishes the will's topic with `offline_payload`, waits for what is still going out, and leaves.

        The broker keeps the session. Messages that could not be sent fail with `LinkError`.
        """
        if self._connected:
            if self._settings.will is not None and offline_payload is not None:
                try:
                    self.publish(self._settings.will.topic, offline_payload, retain=True)
                except LinkError as error:
                    log.warning("could not say that the device goes offline: %s", error)
            if going_out := self._outbox.going_out:
                await asyncio.wait(going_out, timeout=deadline_s)
        if self._catching_up is not None:
            self._catching_up.cancel()
        await asyncio.to_thread(self._connection.stop, deadline_s)
        self._loop = None
        self._connected = False
        self._outbox.close("the daemon stopped before the message was sent")

    def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        qos: int = 1,
        retain: bool = False,
        response_topic: str | None = None,
        correlation_data: bytes | None = None,
    ) -> asyncio.Future[None]:
        """Sends a message, or keeps it until there is a broker to send it to.

        Returns:
            A future that is done when the broker has the message (QoS 0: when it is sent). It fails with
            `LinkError` when the broker refuses it; nobody has to wait for it. A retained message that still
            waits when a newer one for its topic comes is replaced by it.

        Raises:
            LinkError: the message is larger than the broker takes, or too many are waiting.
            TopicError: nothing can be published to this topic.
        """
        if self._loop is None:
            raise LinkError("the MQTT link is not running")
        check_publishable(topic)
        if response_topic is not None:
            check_publishable(response_topic)
        outgoing = Outgoing(topic, payload, qos, retain, response_topic, correlation_data)
        if (refusal := self._too_large(outgoing)) is not None:
            raise LinkError(refusal)
        done = self._outbox.put(outgoing)
        self._pump()
        return done

    def hang_up(self) -> None:
        """Leaves a broker that does not answer, and tries to connect anew."""
        self._connection.hang_up()

    def acknowledge(self, delivery: Delivery) -> None:
        """Tells the broker that the daemon has the message for good. Late or twice, it does nothing."""
        if delivery.qos > 0:
            self._connection.acknowledge(delivery)

    async def round_trip(self, deadline_s: float) -> float:
        """Seconds that a message to ourselves takes through the broker. Raises `LinkError`."""
        token = secrets.token_bytes(8)
        came_back = self._heartbeats[token] = new_future()
        sent_at_s = time.monotonic()
        try:
            if self._connection.send(Outgoing(self._heartbeat_topic, token, qos=0, retain=False)) is None:
                raise LinkError(
                    self._last_error or f"not connected to the MQTT broker at {self._settings.address}"
                )
            async with asyncio.timeout(deadline_s):
                await came_back
        except TimeoutError as error:
            raise LinkError(
                f"a message to {self._heartbeat_topic} did not come back in {deadline_s:g} s"
            ) from error
        finally:
            del self._heartbeats[token]
        return time.monotonic() - sent_at_s

    # What the network thread tells; each only hands over to the event loop.

    def accepted(self, accepted: Accepted) -> None:
        self._hand_over(self._take_connection, accepted)

    def lost(self) -> None:
        self._hand_over(self._lose_connection)

    def complained(self, sentence: str | None) -> None:
        self._hand_over(self._take_complaint, sentence)

    def published(self, client: int, mid: int, refusal: str | None) -> None:
        self._hand_over(self._take_acknowledgement, client, mid, refusal)

    def delivered(self, delivery: Delivery) -> None:
        if delivery.qos == 0 and self._taken_bytes - self._seen_bytes > MAX_BACKLOG_BYTES:
            self._dropped += 1
            if self._dropped == 1:
                log.warning("messages come in faster than they can be looked at: some of QoS 0 are dropped")
            return
        self._taken_bytes += len(delivery.payload) + DELIVERY_OVERHEAD_BYTES
        self._hand_over(self._take_delivery, delivery)

    def _hand_over(self, callback: Callable[..., None], *arguments: Any) -> None:
        loop = self._loop
        if loop is None:
            return
        try:
            loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # the event loop is closed: the daemon is gone, nobody listens
            log.debug("dropped what came in after the event loop was closed")

    # From here on: on the event loop.

    def _take_connection(self, accepted: Accepted) -> None:
        first, self._connected = self._accepted is None, True
        if self._accepted is not None and self._accepted.client != accepted.client:
            self._outbox.send_again()
        self._accepted = accepted
        self.connections += 1
        log.info("connected to the MQTT broker at %s (MQTT %s)", self._settings.address, accepted.protocol)
        self._hand_on(self._backlog.begin())
        self._catching_up = asyncio.get_running_loop().create_task(self._catch_up())
        if self._on_connected is not None:
            self._guard(self._on_connected, accepted.session_present, first)
        self._pump()

    async def _catch_up(self) -> None:
        """Lets the backlog go once a message to ourselves, sent behind it, has come back."""
        try:
            await self.round_trip(CATCH_UP_DEADLINE_S)
        except LinkError as error:
            log.debug("the backlog is taken as it is: %s", error)
        if asyncio.current_task() is self._catching_up:  # else a newer connection holds its own
            self._hand_on(self._backlog.end())

    def _lose_connection(self) -> None:
        self._connected = False

    def _take_complaint(self, sentence: str | None) -> None:
        self._last_error = sentence

    def _take_acknowledgement(self, client: int, mid: int, refusal: str | None) -> None:
        if self._accepted is None or client != self._accepted.client:
            return
        pending = self._outbox.acknowledged(mid)
        if pending is not None:
            if refusal is not None:
                refusal = f"the MQTT broker refused a message to {pending.outgoing.topic}: {refusal}"
                self._connection.complain(refusal)
            finish(pending.done, refusal)
        self._pump()

    def _take_delivery(self, delivery: Delivery) -> None:
        self._seen_bytes += len(delivery.payload) + DELIVERY_OVERHEAD_BYTES
        if delivery.topic == self._heartbeat_topic:
            came_back = self._heartbeats.get(delivery.payload)
            if came_back is not None:
                finish(came_back, None)
            self.acknowledge(delivery)
        elif not self._backlog.hold(delivery):
            self._hand_on([delivery])

    def _hand_on(self, deliveries: list[Delivery]) -> None:
        for delivery in deliveries:
            self._guard(self._on_message, delivery)

    def _guard(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Calls the daemon. A message whose handler failed is not acknowledged: it comes again."""
        try:
            callback(*arguments)
        except Exception:
            log.exception("%s failed", getattr(callback, "__qualname__", callback))

    def _pump(self) -> None:
        """Hands waiting messages to the network, as many as may be under way."""
        if not self._connected or self._accepted is None:
            return
        window = min(self._settings.max_inflight, self._accepted.receive_maximum)
        self._outbox.pump(window, self._connection.send, self._too_large)

    def _too_large(self, outgoing: Outgoing) -> str | None:
        limit = self._accepted.max_packet_bytes if self._accepted is not None else None
        if limit is None or outgoing.max_packet_bytes <= limit:
            return None
        return (
            f"{len(outgoing.payload)} bytes to {outgoing.topic} are more than the MQTT broker takes ({limit})"
        )
