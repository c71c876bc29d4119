"""All that is served, behind the door where every request is judged."""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request, cookie_parser
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from daemon.config import Config
from daemon.web import openapi, requests
from daemon.web.access import COOKIE, SESSION_S, Access, Asked, Sessions
from daemon.web.announcements import Announcements, answer
from daemon.web.files import PAGE, Page, WavFiles
from daemon.web.parts import Parts
from daemon.web.refusals import Refusal, WebCode
from daemon.web.speech import Speeches
from daemon.web.stream import BrokenOff
from daemon.web.turnstile import Rate, Turnstile
from daemon.web.voices import VoiceDesk

log = logging.getLogger(__name__)

SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'self'; media-src 'self' blob:; object-src 'none'; base-uri 'none';"
        " form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(self)",  # a voice is recorded on the page
}
LOGIN_ATTEMPTS_PER_MIN = 20
SEND_DEADLINE_S = 30.0


class Token(msgspec.Struct, frozen=True):
    """`POST /api/login`"""

    token: str


class Logins:
    """From the token to a cookie that the page's scripts cannot read."""

    def __init__(self, access: Access, sessions: Sessions, rate: Rate) -> None:
        self._access = access
        self._sessions = sessions
        self._rate = rate

    async def login(self, request: Request) -> Response:
        self._rate.take(requests.client(request))
        token = (await requests.struct(request, Token)).token
        if self._access.needs_token and not self._access.is_token(token):
            raise Refusal(401, WebCode.UNAUTHORIZED, "that is not the token")
        response = answer({})
        response.set_cookie(
            COOKIE, self._sessions.open(), max_age=SESSION_S, httponly=True, samesite="strict", path="/"
        )
        return response

    async def logout(self, request: Request) -> Response:
        self._sessions.close(request.cookies.get(COOKIE, ""))
        response = answer({})
        response.delete_cookie(COOKIE, httponly=True, samesite="strict", path="/")
        return response


class Door:
    """Judges, adds the security headers, and reports what went wrong inside."""

    def __init__(self, inside: ASGIApp, access: Access) -> None:
        self._inside = inside
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in SECURITY_HEADERS.items():
                    headers[name] = value
                if message["status"] in (408, 413):  # the rest of the body is not read
                    headers["Connection"] = "close"
            try:
                async with asyncio.timeout(SEND_DEADLINE_S):
                    await send(message)
            except TimeoutError as error:
                raise BrokenOff("the client does not take it") from error

        refusal = self._access.refusal(asked(scope))
        inside = self._inside if refusal is None else refusal.response()
        try:
            await inside(scope, receive, send_safely)
        except BrokenOff as error:
            log.warning("the answer to %r broke off: %s", scope["path"], error)
            raise
        except ClientDisconnect:
            log.debug("a client has left before its request was whole")
        except Exception:
            log.exception("%s %r failed", scope["method"], scope["path"])
            raise


def asked(scope: Scope) -> Asked:
    """What the permission of a request follows from."""
    headers = Headers(scope=scope)
    return Asked(
        method=scope["method"],
        path=scope["path"],
        host=headers.get("host", ""),
        origin=headers.get("origin"),
        site=headers.get("sec-fetch-site"),
        content_type=headers.get("content-type", ""),
        authorization=headers.get("authorization", ""),
        session=cookie_parser(headers.get("cookie", "")).get(COOKIE, ""),
    )


def gateway(config: Config, state_dir: Path, token: str | None, parts: Parts) -> Door:
    """The whole application."""
    sessions = Sessions()
    access = Access(config.web.host, token, sessions)
    rate = Rate(config.web.rate_per_min)
    announcements = Announcements(parts)
    speeches = Speeches(parts, announcements, Turnstile(rate))
    voices = VoiceDesk(config, state_dir, parts, rate)
    logins = Logins(access, sessions, Rate(LOGIN_ATTEMPTS_PER_MIN))

    async def description(request: Request) -> Response:
        return answer(openapi.document(config.limits.max_text_length))

    routes = [
        Route("/cosyvoice/preset", speeches.preset),
        Route("/cosyvoice/generate", speeches.generate, methods=["GET", "POST"]),
        Route("/v1/audio/speech", speeches.speech, methods=["POST"]),
        Route("/v1/audio/voices", speeches.voices),
        Route("/v1/models", speeches.models),
        Route("/api/login", logins.login, methods=["POST"]),
        Route("/api/logout", logins.logout, methods=["POST"]),
        Route("/api/state", announcements.state),
        Route("/api/events", announcements.events),
        Route("/api/queue", announcements.queue),
        Route("/api/recent", announcements.recent),
        Route("/api/say", announcements.say, methods=["POST"]),
        Route("/api/command/{verb}", announcements.command, methods=["POST"]),
        Route("/api/settings/{name}", announcements.set, methods=["PUT"]),
        Route("/api/voices", announcements.voices),
        Route("/api/styles", announcements.styles),
        Route("/api/voices/check", voices.check, methods=["POST"]),
        Route("/api/voices/{name}", voices.enrol, methods=["POST"]),
        Route("/api/voices/{name}", voices.remove, methods=["DELETE"]),
        Route("/outputs/{name}", WavFiles(parts.outputs.folder).wav),
        Route("/metrics", announcements.metrics),
        Route("/openapi.json", description),
        Mount("/", GZipMiddleware(Page(directory=PAGE, html=True, check_dir=False))),
    ]
    handlers = {Refusal: _refused, HTTPException: _refused_by_starlette, Exception: _failed}
    return Door(Starlette(routes=routes, exception_handlers=handlers), access)


async def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, Refusal):
        raise error
    return error.response()


async def _refused_by_starlette(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    code = WebCode.METHOD_NOT_ALLOWED if error.status_code == 405 else WebCode.NOT_FOUND
    response = Refusal(error.status_code, code, error.detail.lower()).response()
    response.headers.update(error.headers or {})
    return response


async def _failed(request: Request, error: Exception) -> Response:
    return Refusal(500, WebCode.INTERNAL, "a fault of the daemon; its log tells more").response()
