"""What MQTT offers, for the page: requests, commands, settings, the queue, and all that is told."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from daemon import styles
from daemon.errors import AnnouncementError, Code
from daemon.jobs.job import Job
from daemon.jobs.journal import Entry, JournalError
from daemon.mqtt.controls import SETTINGS, ControlError
from daemon.mqtt.intake import Envelope, parse_say
from daemon.mqtt.messages import Event, Result, State, timestamp
from daemon.mqtt.settings import LinkError
from daemon.watch import prometheus
from daemon.web import refusals, requests
from daemon.web.feed import Mailbox
from daemon.web.parts import Parts
from daemon.web.refusals import Refusal, WebCode
from daemon.web.stream import Stream

log = logging.getLogger(__name__)

VERBS = ("stop", "clear", "cancel", "pause", "resume", "replay")
MAX_RECENT = 200
BEAT_S = 15.0  # so that proxies do not take a quiet stream for a dead one
MAX_WAIT_S, RENDER_DEADLINE_S = 120.0, 300.0


class Setting(msgspec.Struct, frozen=True):
    """`PUT /api/settings/NAME`"""

    value: str | int | float | bool


class Cancel(msgspec.Struct, frozen=True):
    """`POST /api/command/cancel`"""

    id: str


class Announcements:
    """The handlers of one gateway; each raises `Refusal`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def job(self, payload: bytes) -> Job:
        """The job that a request asks for, by the rules of an MQTT message. Raises `Refusal`."""
        try:
            return parse_say(payload, Envelope("http"), self._parts.defaults(), self._parts.clock())
        except AnnouncementError as error:
            raise refusals.of(error) from error

    async def finished(self, job: Job) -> Result:
        """Has a job made, in its turn; its final result. Raises `Refusal`."""
        with self._parts.feed.listen() as mailbox:
            await self._admit(job, mailbox)
            try:
                async with asyncio.timeout(min(job.ttl_s, MAX_WAIT_S) + RENDER_DEADLINE_S):
                    result = await self._result(job.id, mailbox)
                    while not result.event.is_final:
                        result = await self._result(job.id, mailbox)
            except TimeoutError as error:
                raise Refusal(504, WebCode.EXPIRED, "it takes too long; its result goes to MQTT") from error
        if result.event == Event.EXPIRED:
            raise Refusal(504, WebCode.EXPIRED, result.message or "it could not begin in time")
        if result.event != Event.FINISHED:
            code = result.code or WebCode.NOT_POSSIBLE
            raise Refusal(refusals.status_of(result.code), code, result.message or result.event)
        return result

    async def say(self, request: Request) -> Response:
        job = self.job(await requests.json_body(request))
        with self._parts.feed.listen() as mailbox:
            await self._admit(job, mailbox)
        return answer({"id": job.id}, 202)

    async def command(self, request: Request) -> Response:
        verb, payload = request.path_params["verb"], b""
        if verb not in VERBS:
            raise Refusal(404, WebCode.NOT_FOUND, f"the commands are {', '.join(VERBS)}")
        if verb == "cancel":
            payload = (await requests.struct(request, Cancel)).id.encode("utf-8", "replace")
        try:
            await self._parts.controls.command(verb, payload, self._parts.reception.mark())
        except (ControlError, JournalError) as error:
            raise Refusal(409, WebCode.NOT_POSSIBLE, str(error)) from error
        return answer({})

    async def set(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in SETTINGS:
            raise Refusal(404, WebCode.NOT_FOUND, f"the settings are {', '.join(SETTINGS)}")
        value = (await requests.struct(request, Setting)).value
        try:
            self._parts.controls.set(name, str(value).encode("utf-8", "replace"))
        except ControlError as error:
            raise Refusal(400, Code.OUT_OF_RANGE, str(error)) from error
        except LinkError as error:  # it counts all the same
            log.debug("the setting '%s' cannot be told: %s", name, error)
        return answer(self._parts.controls.values)

    async def state(self, request: Request) -> Response:
        return answer(self._whole(self._parts.status.state()))

    async def queue(self, request: Request) -> Response:
        queue = self._parts.queue
        current = _described(queue.current) if queue.current is not None else None
        return answer({"current": current, "waiting": [_described(entry) for entry in queue.waiting]})

    async def recent(self, request: Request) -> Response:
        limit = request.query_params.get("limit", "50")
        if not limit.isascii() or not limit.isdecimal() or not 1 <= int(limit[:9]) <= MAX_RECENT:
            raise Refusal(400, Code.OUT_OF_RANGE, f"limit must be from 1 to {MAX_RECENT}")
        try:
            return answer(await self._parts.ledger.recent(int(limit)))
        except JournalError as error:
            raise Refusal(503, Code.DISK_FULL, str(error)) from error

    async def voices(self, request: Request) -> Response:
        return answer(list(self._parts.engines.voices.values()))

    async def styles(self, request: Request) -> Response:
        return answer(styles.listed())

    async def metrics(self, request: Request) -> Response:
        text = prometheus.text(self._parts.status.state())
        return Response(text, headers={"Content-Type": prometheus.CONTENT_TYPE})

    async def events(self, request: Request) -> Response:
        if self._parts.feed.is_full:
            raise Refusal(503, WebCode.BUSY, "too many pages listen already", retry_after_s=10)
        return Stream(self._told(), "text/event-stream")

    async def _told(self) -> AsyncGenerator[bytes, None]:
        """All news as server-sent events, the present state first."""
        with self._parts.feed.listen() as mailbox:
            yield _event("state", self._whole(self._parts.status.state()))
            while True:
                try:
                    async with asyncio.timeout(BEAT_S):
                        news = await mailbox.get()
                except TimeoutError:
                    yield b":\n\n"
                    continue
                if news is None:
                    return
                if isinstance(news, State):
                    yield _event("state", self._whole(news))
                else:
                    yield _event("result", news)

    def _whole(self, state: State) -> dict[str, Any]:
        settings, paused = self._parts.controls.values, self._parts.queue.paused
        return {**msgspec.structs.asdict(state), "settings": settings, "paused": paused}

    async def _admit(self, job: Job, mailbox: Mailbox) -> None:
        """Puts a job into the queue; the first that is told of it says whether it is there."""
        try:
            await self._parts.reception.admit(job)
        except AnnouncementError as error:
            raise refusals.of(error) from error
        result = await self._result(job.id, mailbox)
        if result.event == Event.REJECTED:
            raise Refusal(
                refusals.status_of(result.code), result.code or WebCode.INTERNAL, result.message or ""
            )

    async def _result(self, job_id: str, mailbox: Mailbox) -> Result:
        while (news := await mailbox.get()) is not None:
            if isinstance(news, Result) and news.id == job_id:
                return news
        raise Refusal(503, Code.SHUTTING_DOWN, "the daemon is stopping")


def answer(content: object, status: int = 200) -> Response:
    """A JSON answer, which nobody keeps."""
    headers = {"Cache-Control": "no-store"}
    return Response(msgspec.json.encode(content), status, headers, "application/json")


def _event(name: Literal["state", "result"], content: object) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode(content) + b"\n\n"


def _described(entry: Entry) -> dict[str, object]:
    job = entry.job
    return {
        "id": job.id,
        "text": job.text,
        "priority": job.priority,
        "voice": job.voice,
        "style": job.style,
        "accepted_at": timestamp(job.accepted_at.wall_s),
    }
