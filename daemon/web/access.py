"""Who may do what: every request is judged here before anything else looks at it."""

import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from daemon.web.refusals import Refusal, WebCode

COOKIE = "session"
MAX_SESSIONS = 64
SESSION_S = 7 * 24 * 3600
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# What another site's page can have a form send without asking first (Fetch standard, "CORS-safelisted").
_SIMPLE_TYPES = ("", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
_PAGE = ("/", "/index.html", "/favicon.ico", "/favicon.svg", "/assets/", "/api/login", "/api/logout")
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Asked(NamedTuple):
    """All of a request that its permission follows from."""

    method: str
    path: str
    host: str
    origin: str | None = None
    site: str | None = None  # Sec-Fetch-Site: what a browser says of the page that asks
    content_type: str = ""
    authorization: str = ""
    session: str = ""


class Sessions:
    """Pages that have logged in; bounded, forgotten after a week and at a restart."""

    def __init__(self, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._ends_s: OrderedDict[str, float] = OrderedDict()

    def open(self) -> str:
        session = secrets.token_urlsafe(32)
        self._ends_s[session] = self._monotonic_s() + SESSION_S
        while len(self._ends_s) > MAX_SESSIONS:
            self._ends_s.popitem(last=False)
        return session

    def close(self, session: str) -> None:
        self._ends_s.pop(session, None)

    def knows(self, session: str) -> bool:
        """Takes the same time for every session that there is not."""
        now_s = self._monotonic_s()
        found = [is_same(session, known) and now_s < end_s for known, end_s in self._ends_s.items()]
        return any(found)


class Access:
    """The rules of one gateway."""

    def __init__(self, host: str, token: str | None, sessions: Sessions) -> None:
        """`token`: None where none is asked for."""
        self._token = token
        self._sessions = sessions
        self._hosts = _LOCAL_NAMES | {f"[{host}]" if ":" in host else host.lower()}

    @property
    def needs_token(self) -> bool:
        return self._token is not None

    def is_token(self, token: str) -> bool:
        return self._token is not None and is_same(token, self._token)

    def refusal(self, asked: Asked) -> Refusal | None:
        """Why this must not be answered; None when it may be."""
        if self._token is None and host_name(asked.host) not in self._hosts:
            # A page of the web can give its own name our address, and then ask us (DNS rebinding).
            return Refusal(403, WebCode.FORBIDDEN, "ask for localhost, or for the host of the configuration")
        is_page = asked.path in _PAGE or asked.path.startswith("/assets/")
        # Before the token: a proxy may add that to whatever a browser sends it.
        if (refusal := foreign(asked, is_page)) is not None:
            return refusal
        bearer = self._bears_token(asked)
        if not bearer and (refusal := disguised(asked)) is not None:
            return refusal
        if self._token is None or is_page or bearer or self._sessions.knows(asked.session):
            return None
        return Refusal(401, WebCode.UNAUTHORIZED, "this needs the token: 'Authorization: Bearer TOKEN'")

    def _bears_token(self, asked: Asked) -> bool:
        scheme, _, token = asked.authorization.partition(" ")
        return scheme.lower() == "bearer" and self.is_token(token.strip())


def foreign(asked: Asked, is_page: bool) -> Refusal | None:
    """Why a request of a browser must not be answered: another site's page has it made; None when not."""
    own = asked.site not in ("cross-site", "same-site")
    if asked.origin is not None:
        own = asked.origin.partition("://")[2] == asked.host
    if own or (is_page and asked.method in SAFE_METHODS):
        return None
    return Refusal(403, WebCode.FORBIDDEN, "pages of other sites may not ask for this")


def disguised(asked: Asked) -> Refusal | None:
    """Why a request without an origin might be a form's of an old browser; None when it cannot be."""
    kind = media_type(asked.content_type)
    if asked.origin is not None or asked.method not in ("POST", "PUT") or kind not in _SIMPLE_TYPES:
        return None
    if kind == "" and asked.path.startswith(("/api/command/", "/api/logout")):
        return None  # these need no body
    message = "say what the body is: 'Content-Type: application/json', or audio/... for a recording"
    return Refusal(415, WebCode.UNSUPPORTED_MEDIA_TYPE, message)


def is_same(given: str, right: str) -> bool:
    """Compares secrets in a time that tells nothing of them."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode("utf-8", "replace"))


def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def host_name(host: str) -> str:
    """The name alone of a Host header such as `localhost:7860` or `[::1]:7860`."""
    name, bracket, rest = host.rpartition("]")
    if bracket:
        return f"{name}]".lower() if rest == "" or rest.startswith(":") else ""
    return host.partition(":")[0].lower().removesuffix(".")


def client_of(address: str | None) -> str:
    """Whom an address belongs to: a home has a whole /64 of IPv6 addresses."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)
