"""Speech as the answer: our own requests, and those of OpenAI's clients."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from daemon import styles
from daemon.errors import AnnouncementError, Code
from daemon.jobs.job import Job
from daemon.mqtt.messages import Result
from daemon.web import refusals, requests, sound
from daemon.web.announcements import Announcements, answer
from daemon.web.parts import Parts
from daemon.web.refusals import Refusal, WebCode
from daemon.web.sound import Format
from daemon.web.stream import Stream
from daemon.web.turnstile import Turnstile

MODEL = "cosyvoiced"
DEFAULT_FORMAT = "mp3"  # as OpenAI's own
SLOWEST, FASTEST = 0.5, 2.0  # what the engines can do
# What clients offer where they cannot ask for a list; here, the default voice.
OPENAI_VOICES = frozenset(
    {
        *("alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage"),
        *("shimmer", "verse"),
    }
)


class SpeechRequest(msgspec.Struct, frozen=True):
    """`POST /v1/audio/speech`, as far as it means something here; what else clients send is ignored."""

    input: str
    model: str = MODEL
    voice: str | None = None
    response_format: str = DEFAULT_FORMAT
    speed: Annotated[float, Meta(ge=0.25, le=4.0)] = 1.0
    instructions: str | None = None  # a style, where it is one


class Speeches:
    """The handlers that speak to the client; each raises `Refusal`."""

    def __init__(self, parts: Parts, announcements: Announcements, turnstile: Turnstile) -> None:
        self._parts = parts
        self._announcements = announcements
        self._turnstile = turnstile

    async def preset(self, request: Request) -> Response:
        presets = styles.PRESETS.values()
        return answer(
            [
                {"value": preset.name, "label": preset.label_en, "label_zh": preset.label_zh}
                for preset in presets
            ]
        )

    async def generate(self, request: Request) -> Response:
        """WAV while it is made; or, for `format=json`, how it ended, with a URL."""
        if request.method == "HEAD":  # nobody would hear it
            raise Refusal(405, WebCode.METHOD_NOT_ALLOWED, "GET and POST are answered here")
        fields = requests.query(request)
        asked = fields.pop("format", "json" if _prefers_json(request) else "wav")
        if asked not in ("wav", "json"):
            raise Refusal(400, Code.OUT_OF_RANGE, f"format must be wav or json, not '{asked[:60]}'")
        if request.method == "POST":
            if fields:
                message = f"send '{next(iter(fields))[:60]}' in the body"
                raise Refusal(400, Code.UNKNOWN_FIELD, message)
            payload = await requests.json_body(request)
        else:
            payload = msgspec.json.encode(fields)
        job = self._announcements.job(payload)
        if asked == "wav":
            return self._stream(request, job, sound.FORMATS["wav"])
        with self._turnstile.enter(requests.client(request)):
            result = await self._announcements.finished(msgspec.structs.replace(job, output="file"))
        return answer(_with_url(result))

    async def speech(self, request: Request) -> Response:
        """OpenAI's `POST /v1/audio/speech`."""
        asked = await requests.struct(request, SpeechRequest)
        fields: dict[str, Any] = {"text": asked.input, "speed": min(max(asked.speed, SLOWEST), FASTEST)}
        if asked.voice is not None:
            known = asked.voice in self._parts.engines.voices
            fields["voice"] = "auto" if asked.voice in OPENAI_VOICES and not known else asked.voice
        if asked.instructions and (style := styles.resolve(asked.instructions)) is not None:
            fields["style"] = style
        job = self._announcements.job(msgspec.json.encode(fields))
        try:
            wanted = sound.named(asked.response_format)
        except AnnouncementError as error:
            raise refusals.of(error) from error
        return self._stream(request, job, wanted, clamped=fields["speed"] != asked.speed)

    async def models(self, request: Request) -> Response:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}
        aliases = [{**model, "id": name} for name in ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")]
        return answer({"object": "list", "data": [model, *aliases]})

    async def voices(self, request: Request) -> Response:
        voices = self._parts.engines.voices.values()
        return answer(
            {
                "voices": [
                    {"id": voice.name, "name": voice.name, "languages": voice.languages} for voice in voices
                ]
            }
        )

    def _stream(self, request: Request, job: Job, wanted: Format, clamped: bool = False) -> Stream:
        studio = self._parts.studio
        return Stream(
            sound.in_format(studio.speak(job), wanted, studio.sample_rate_hz),
            wanted.media_type,
            {"X-Request-Id": _header(job.id), **({"X-Degraded": "speed"} if clamped else {})},
            self._turnstile.enter(requests.client(request)),
            first_deadline_s=job.ttl_s,
        )


def _prefers_json(request: Request) -> bool:
    kinds = [part.partition(";")[0].strip() for part in request.headers.get("accept", "").lower().split(",")]
    return kinds[0] == "application/json"


def _with_url(result: Result) -> dict[str, Any]:
    name = (result.wav_path or "").rpartition("/")[2]
    return {**msgspec.structs.asdict(result), "url": f"/outputs/{name}" if name else None}


def _header(text: str) -> str:
    """An id as a header can carry it."""
    return "".join(character if "!" <= character <= "~" else "-" for character in text)
