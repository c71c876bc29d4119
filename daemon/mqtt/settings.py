"""Which broker the daemon talks to, and how."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field

from daemon.errors import CosyvoicedError


class LinkError(CosyvoicedError):
    """The broker cannot be reached, refused something, or was asked for something it cannot do."""


class _Socket(ssl.SSLSocket):
    """Closes itself when the handshake fails; paho drops it open, for the garbage collector to warn of."""

    def do_handshake(self, block: bool = False) -> None:
        try:
            super().do_handshake(block)
        except OSError:
            self.close()
            raise


@dataclass(frozen=True)
class Tls:
    """Encryption. Without `ca_file` the system's authorities are trusted."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    insecure: bool = False  # neither the broker's certificate nor its host name is checked

    def context(self) -> ssl.SSLContext:
        """Reads the files. Raises `LinkError` when one is missing or not what it should be."""
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.cert_file:
                context.load_cert_chain(self.cert_file, self.key_file)
        except OSError as error:  # ssl.SSLError is one
            files = ", ".join(name for name in (self.ca_file, self.cert_file, self.key_file) if name)
            raise LinkError(f"cannot use the TLS files {files}: {error}") from error
        context.sslsocket_class = _Socket
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


@dataclass(frozen=True)
class Will:
    """What the broker publishes, retained, when the device goes away without a word."""

    topic: str
    payload: bytes


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """Which broker, as whom, and with how much patience."""

    host: str
    port: int = 1883
    client_id: str
    username: str | None = None
    password: str | Callable[[], str] | None = field(default=None, repr=False)  # called in the network thread
    tls: Tls | None = None
    will: Will | None = None
    keepalive_s: int = 30
    session_expiry_s: int = 300  # the broker keeps what comes in meanwhile; MQTT 5 only
    retry_min_s: float = 1.0
    retry_max_s: float = 10.0
    max_queued: int = 1000  # outgoing messages that wait for the broker
    max_inflight: int = 100  # outgoing messages that wait for their acknowledgement
    receive_maximum: int = 100  # incoming messages without our acknowledgement; MQTT 5 only
    max_packet_bytes: int = 4 * 2**20  # incoming; MQTT 5 only

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def current_password(self) -> str | None:
        """The password as it is now. Raises `LinkError` when its file cannot be read."""
        try:
            return self.password() if callable(self.password) else self.password
        except OSError as error:
            raise LinkError(f"cannot read the MQTT password: {error}") from error
