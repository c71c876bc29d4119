"""Voices of one's own: a recording is looked at, made into a voice, and forgotten again."""

import asyncio
import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from cosyvoice.errors import VoiceError
from cosyvoice.voices import names
from cosyvoice.voices.store import VoiceStore
from daemon import config as options
from daemon.children.answer import ask
from daemon.commands import voice_add
from daemon.config import Config
from daemon.errors import Code
from daemon.synthesis.builtin.voices import VOICES
from daemon.synthesis.cosyvoice3 import facts
from daemon.web import requests
from daemon.web.announcements import answer
from daemon.web.parts import Parts
from daemon.web.refusals import Refusal, WebCode
from daemon.web.turnstile import Rate

EXAMINE = "cosyvoice.voices.examine"
MAX_RECORDING_BYTES = 10 * 2**20
EXAMINE_DEADLINE_S = 30.0
_WORDS = {"--text": "the transcript", "--force": "force=true"}  # of the command line, and those of here
_TRUE = ("1", "true", "yes", "on")


class VoiceDesk:
    """The handlers for enrolled voices; one recording at a time, since an enrolment takes 1.3 GiB."""

    def __init__(self, config: Config, state_dir: Path, parts: Parts, rate: Rate) -> None:
        self._store = VoiceStore(options.voices_dir(state_dir))
        self._model_dir = options.model_dir(config, state_dir)
        self._cache = parts.cache
        self._rate = rate
        self._busy = False

    async def check(self, request: Request) -> Response:
        """What the checks say of a recording. Raises `Refusal`."""
        query = _query(request, ("text", "language"))
        with self._alone(request):
            sound = await requests.body(request, MAX_RECORDING_BYTES)
            told = await _ask(EXAMINE, query, sound, EXAMINE_DEADLINE_S)
        if "problems" not in told:
            return answer(told)
        # For whoever looks at the page, this is one more finding.
        problem = "; ".join(told["problems"])
        finding = {"check": "recording", "level": "problem", "what": problem, "do": None}
        return answer({"findings": [finding], "duration_s": None, "level_db": None})

    async def enrol(self, request: Request) -> Response:
        """Makes a voice of a recording; 422 with the findings where it is unfit. Raises `Refusal`."""
        name = _checked(request.path_params["name"])
        query = _query(request, ("text", "language", "gender", "force"))
        if (sentence := facts.to_install(voice_add.LIBRARIES)) is not None:
            raise Refusal(409, WebCode.NOT_POSSIBLE, sentence)
        try:
            self._store.refuse_taken(name)
        except VoiceError as error:
            raise Refusal(409, WebCode.NOT_POSSIBLE, f"there is a voice '{name}' already") from error
        asked = {
            **query,
            "name": name,
            "text": query.get("text", ""),
            "force": query.get("force", "").lower() in _TRUE,
            "model_dir": str(self._model_dir),
            "voices_dir": str(self._store.folder),
        }
        with self._alone(request):
            sound = await requests.body(request, MAX_RECORDING_BYTES)
            told = await _ask(voice_add.MODULE, asked, sound, voice_add.DEADLINE_S)
        findings = told["findings"]
        if "problems" in told:
            content = {
                "error": "; ".join(told["problems"]),
                "code": WebCode.BAD_RECORDING,
                "findings": findings,
            }
            return answer(content, 422)
        return answer({"name": name, "findings": findings}, 201)

    async def remove(self, request: Request) -> Response:
        """Forgets a voice and what it has said. Raises `Refusal` (400, 404, 409)."""
        name = request.path_params["name"]
        if name in VOICES:
            raise Refusal(409, WebCode.NOT_POSSIBLE, f"'{name}' is a built-in voice and stays")
        try:
            if self._store.path(name).stem != name:
                raise Refusal(404, WebCode.NOT_FOUND, "write the name as it is")
            await asyncio.to_thread(self._store.remove, name)
        except VoiceError as error:
            raise Refusal(404, WebCode.NOT_FOUND, str(error)) from error
        try:
            await asyncio.to_thread(self._cache.forget, name)
        except OSError as error:
            raise Refusal(503, Code.DISK_FULL, f"its phrases cannot be removed: {error.strerror}") from error
        return answer({})

    @contextlib.contextmanager
    def _alone(self, request: Request) -> Iterator[None]:
        self._rate.take(requests.client(request))
        if self._busy:
            raise Refusal(429, WebCode.BUSY, "another recording is being looked at", retry_after_s=2)
        self._busy = True
        try:
            yield
        finally:
            self._busy = False


def _checked(name: str) -> str:
    try:
        return names.checked(name, voice_add.RESERVED)
    except VoiceError as error:
        raise Refusal(400, Code.OUT_OF_RANGE, str(error)) from error


def _query(request: Request, known: tuple[str, ...]) -> dict[str, Any]:
    fields = {name: value for name, value in requests.query(request).items() if value}
    for name in fields:
        if name not in known:
            message = f"there is no field '{name[:60]}'; the fields are {', '.join(known)}"
            raise Refusal(400, Code.UNKNOWN_FIELD, message)
    return fields


async def _ask(module: str, asked: dict[str, Any], sound: bytes, deadline_s: float) -> dict[str, Any]:
    """Has a process of the voice family look at a recording; its last word, with all findings.

    Raises:
        Refusal: it did not come to an end (503, 504).
    """
    with tempfile.NamedTemporaryFile(prefix="cosyvoiced-", suffix=".recording") as recording:
        await asyncio.to_thread(_fill, Path(recording.name), sound)
        said = await _run(module, {**asked, "recording": recording.name}, deadline_s)
    for word, here in {recording.name: "the recording", **_WORDS}.items():
        said = said.replace(word, here)
    findings: list[Any] = []
    last: dict[str, Any] = {}
    for line in said.splitlines():
        last = json.loads(line)
        findings += [last["finding"]] if "finding" in last else []
    if not last or "progress" in last or "finding" in last:
        raise Refusal(503, Code.ENGINE_FAILED, "the recording could not be looked at: out of memory, perhaps")
    return {"findings": findings, **last}


async def _run(module: str, asked: dict[str, Any], deadline_s: float) -> str:
    try:
        answer = await ask(module, asked=json.dumps(asked).encode(), deadline_s=deadline_s)
    except TimeoutError as error:
        message = f"it took more than {deadline_s:.0f} s, and was given up"
        raise Refusal(504, Code.ENGINE_TIMEOUT, message) from error
    return answer.said.decode("utf-8", "replace")


def _fill(path: Path, sound: bytes) -> None:
    path.write_bytes(sound)
