"""paho-mqtt as this daemon uses it: made in one place, and spoken to in the daemon's own types."""

import socket

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from daemon.mqtt.settings import LinkSettings
from daemon.mqtt.traffic import Delivery, Outgoing, Subscription

V5 = MQTTProtocolVersion.MQTTv5
V311 = MQTTProtocolVersion.MQTTv311


def new_client(settings: LinkSettings, protocol: MQTTProtocolVersion) -> paho.Client:
    """A client that keeps its session at the broker. Raises `LinkError` when the TLS files cannot be used."""
    client = paho.Client(
        CallbackAPIVersion.VERSION2,
        settings.client_id,
        clean_session=None if protocol == V5 else False,
        protocol=protocol,
        manual_ack=True,
        reconnect_on_failure=False,
    )
    if settings.tls is not None:
        client.tls_set_context(settings.tls.context())
        client.tls_insecure_set(settings.tls.insecure)
    if settings.will is not None:
        client.will_set(settings.will.topic, settings.will.payload, qos=1, retain=True)
    client.max_inflight_messages_set(0)  # the link's own window is what bounds them
    # Without a callback here paho writes to the socket from the thread that publishes.
    client.on_socket_register_write = lambda *_: None
    client.connect_async(
        settings.host,
        settings.port,
        settings.keepalive_s,
        clean_start=False if protocol == V5 else paho.MQTT_CLEAN_START_FIRST_ONLY,
        properties=_connect_properties(settings) if protocol == V5 else None,
    )
    return client


def subscribe(
    client: paho.Client, protocol: MQTTProtocolVersion, subscriptions: tuple[Subscription, ...]
) -> None:
    """Live messages then come with the retain flag off, stored ones with it on, at every connection."""
    if protocol == V5:
        client.subscribe([(s.topic_filter, SubscribeOptions(s.qos)) for s in subscriptions])
    else:
        client.subscribe([(s.topic_filter, s.qos) for s in subscriptions])


def hurry(client: paho.Client) -> None:
    """Sends small packets at once: Nagle's algorithm would hold one back for 40 ms behind another."""
    connection = client.socket()
    if isinstance(connection, socket.socket):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def publish(client: paho.Client, protocol: MQTTProtocolVersion, outgoing: Outgoing) -> int | None:
    """Hands a message to paho; its identifier, or None when paho did not keep it."""
    properties = _publish_properties(outgoing) if protocol == V5 else None
    info = client.publish(outgoing.topic, outgoing.payload, outgoing.qos, outgoing.retain, properties)
    kept = info.rc == MQTTErrorCode.MQTT_ERR_SUCCESS or (
        info.rc == MQTTErrorCode.MQTT_ERR_NO_CONN and outgoing.qos > 0  # paho sends it after reconnecting
    )
    return info.mid if kept else None


def delivery(message: paho.MQTTMessage, connection: int) -> Delivery:
    """Raises `UnicodeDecodeError` for a topic that is not UTF-8."""
    properties = message.properties
    return Delivery(
        topic=message.topic,
        payload=bytes(message.payload),
        qos=message.qos,
        retain=bool(message.retain),
        dup=bool(message.dup),
        mid=message.mid,
        connection=connection,
        response_topic=getattr(properties, "ResponseTopic", None),
        correlation_data=getattr(properties, "CorrelationData", None),
        message_expiry_s=getattr(properties, "MessageExpiryInterval", None),
    )


def _connect_properties(settings: LinkSettings) -> Properties:
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho has no types here
    properties.SessionExpiryInterval = settings.session_expiry_s
    properties.ReceiveMaximum = settings.receive_maximum
    properties.MaximumPacketSize = settings.max_packet_bytes
    return properties


def _publish_properties(outgoing: Outgoing) -> Properties | None:
    if outgoing.response_topic is None and outgoing.correlation_data is None:
        return None
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]  # as above
    if outgoing.response_topic is not None:
        properties.ResponseTopic = outgoing.response_topic
    if outgoing.correlation_data is not None:
        properties.CorrelationData = outgoing.correlation_data
    return properties
