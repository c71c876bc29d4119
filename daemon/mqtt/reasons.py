"""What went wrong with the broker, as sentences for a person."""

import socket
import ssl
from enum import IntEnum

from paho.mqtt.reasoncodes import ReasonCode

from daemon.mqtt.settings import LinkError, LinkSettings


class Reason(IntEnum):
    """MQTT 5, section 2.4; paho gives the refusals of 3.1.1 the same numbers."""

    UNSUPPORTED_VERSION = 132
    CLIENT_ID_INVALID = 133
    BAD_CREDENTIALS = 134
    NOT_AUTHORISED = 135
    UNAVAILABLE = 136
    BUSY = 137
    BANNED = 138
    TAKEN_OVER = 142
    PACKET_TOO_LARGE = 149


def is_unsupported_version(reason: ReasonCode) -> bool:
    return reason.value == Reason.UNSUPPORTED_VERSION


def unreachable(address: str, error: OSError | LinkError) -> str:
    """Why no connection came about."""
    broker = f"the MQTT broker at {address}"
    match error:
        case LinkError():
            return str(error)
        case ssl.SSLCertVerificationError():
            return f"{broker} shows a certificate that is not trusted: {error.verify_message}"
        case ssl.SSLError():
            return f"{broker} and this device cannot agree on TLS: {error.reason or error}"
        case socket.gaierror():
            return f"cannot find the host of {broker}: {error.strerror}"
        case ConnectionRefusedError():
            return f"nothing listens at {address}: the MQTT broker is not running, or it runs elsewhere"
        case TimeoutError():
            return f"{broker} does not answer: {error}"
        case _:
            return f"cannot reach {broker}: {error.strerror or error}"


def refused(settings: LinkSettings, reason: ReasonCode | None) -> str:
    """Why the broker did not let us in; `reason` is None when it said nothing."""
    broker = f"the MQTT broker at {settings.address}"
    if reason is None:
        wants_certificate = settings.tls is not None and settings.tls.cert_file is None
        hint = ": it may want a client certificate" if wants_certificate else ""
        return f"{broker} does not answer, or hangs up at once{hint}"
    user = f"the user {settings.username!r}" if settings.username else "a user without a name"
    match reason.value:
        case Reason.BAD_CREDENTIALS | Reason.NOT_AUTHORISED:
            return f"{broker} refuses {user}: wrong name or password, or not allowed to connect"
        case Reason.BANNED:
            return f"{broker} has banned {user}"
        case Reason.CLIENT_ID_INVALID:
            return f"{broker} refuses the client id {settings.client_id!r}"
        case Reason.UNAVAILABLE | Reason.BUSY:
            return f"{broker} is not available now: {reason}"
        case _:
            return f"{broker} refuses the connection: {reason}"


def lost(settings: LinkSettings, reason: ReasonCode | None, again_and_again: bool) -> str:
    """Why a connection ended; `reason` is None when the broker gave none, as in MQTT 3.1.1."""
    broker = f"the MQTT broker at {settings.address}"
    twin = f"another client with the id {settings.client_id!r}"
    cure = "give each device a node name of its own"
    match reason.value if reason is not None else None:
        case Reason.TAKEN_OVER:
            return f"{twin} took over the connection to {broker}: {cure}"
        case None if again_and_again:  # Mosquitto 2.0.11 does not say that it was a take-over
            return f"{broker} drops the connection again and again: if {twin} is running, {cure}"
        case None:
            return f"lost the connection to {broker}"
        case Reason.PACKET_TOO_LARGE:
            return f"{broker} closed the connection: a message was larger than it takes"
        case _:
            return f"{broker} closed the connection: {reason}"
