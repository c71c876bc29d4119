"""Adds a voice: `python -m cosyvoice.voices.enroll`, a process of its own that ends when it is done.

What it needs, 1.3 GiB for a few seconds, never weighs on the daemon or its worker. It takes one JSON
request on stdin and prints JSON lines: `{"progress": ...}`, `{"finding": ...}`, and last `{"voice": ...}` or
`{"problems": [...]}`.
"""

import dataclasses
import datetime
import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosyvoice.config import SAMPLE_RATE_HZ
from cosyvoice.errors import CosyVoiceError, VoiceError
from cosyvoice.text import language
from cosyvoice.voices import (
    activity,
    checks,
    clip,
    cut,
    features,
    network,
    profile,
    speaker,
    speech_tokenizer,
    transcript,
)
from cosyvoice.voices.clip import Samples
from cosyvoice.voices.findings import Finding
from cosyvoice.voices.index import VoiceHeader
from cosyvoice.voices.profile import Prompt
from cosyvoice.voices.speaker import SpeakerEncoder
from cosyvoice.voices.store import VoiceStore

FALLBACK_LANGUAGE = "en"  # of a transcript whose script does not tell
FINGERPRINT_DIGITS = 16


@dataclass(frozen=True)
class Request:
    """What a voice is made of."""

    name: str
    recording: str
    text: str  # what is said in the recording, or in the part of it that is used
    model_dir: str
    voices_dir: str
    language: str | None = None  # None: the text tells
    gender: str | None = None
    until_s: float | None = None  # use the recording up to this pause
    force: bool = False  # add the voice in spite of problems that the checks found


@dataclass(frozen=True)
class Reporter:
    """How the person who waits is told."""

    progress: Callable[[str], None]
    finding: Callable[[Finding], None]


@dataclass(frozen=True)
class Listened:
    """A recording that was listened to."""

    prompt: Samples  # (N,) the part that is used
    sample_rate_hz: int
    duration_s: float  # of the whole recording
    speaker: Samples  # (192,) embedding
    findings: tuple[Finding, ...]


def enroll(request: Request, report: Reporter) -> VoiceHeader:
    """Checks the recording, measures it and writes the voice; the header as written.

    Raises:
        VoiceError: no voice can, or should, be made of it.
        ModelError: a network of the enrolment cannot be used.
    """
    store, model_dir = VoiceStore(Path(request.voices_dir)), Path(request.model_dir)
    for file in (speaker.FILE, speech_tokenizer.FILE):
        network.require(model_dir / file)
    text = transcript.plain(request.text)
    spoken = request.language or language.guess(text, FALLBACK_LANGUAGE)
    heard = listen(request, text, spoken, speaker.load(model_dir))
    for finding in heard.findings:
        report.finding(finding)
    if not request.force:
        _refuse_problems(heard.findings)
    report.progress("making speech tokens; the large speech tokenizer is loaded for this alone ...")
    header = VoiceHeader(
        name=store.path(request.name).stem,
        transcript=text,
        language=spoken,
        gender=request.gender,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        source_duration_s=round(heard.duration_s, 2),
        findings=heard.findings,
        speaker_encoder=_fingerprint(model_dir / speaker.FILE),
        speech_tokenizer=_fingerprint(model_dir / speech_tokenizer.FILE),
    )
    prompt = measure(heard, model_dir)
    store.make_folder()
    return profile.write(store.path(request.name), header, prompt)


def listen(request: Request, text: str, spoken: str, encoder: SpeakerEncoder) -> Listened:
    """Reads the recording, finds what of it is used, and looks for everything that may be wrong with it."""
    recording = clip.read(Path(request.recording))
    heard = activity.measure(recording.samples, recording.sample_rate_hz)
    kept = cut.choose(activity.phrases(heard), text, spoken, request.until_s)
    prompt = cut.prompt(recording, kept, heard.speech_db)
    wav16 = features.resample(prompt, recording.sample_rate_hz, features.FEATURE_RATE_HZ)
    fbank = features.fbank80(wav16).numpy()  # (T, 80)
    findings = (
        *checks.signal(recording, heard, kept),
        speaker.one_speaker([encoder.embed(window) for window in speaker.windows(fbank)]),
        transcript.check(text, spoken, kept.speech_s),
    )
    return Listened(prompt, recording.sample_rate_hz, recording.duration_s, encoder.embed(fbank), findings)


def measure(heard: Listened, model_dir: Path) -> Prompt:
    """Makes the tensors of a voice."""
    wav16 = features.resample(heard.prompt, heard.sample_rate_hz, features.FEATURE_RATE_HZ)
    wav24 = features.resample(heard.prompt, heard.sample_rate_hz, SAMPLE_RATE_HZ)
    tokens = speech_tokenizer.tokenize(model_dir, features.log_mel128(wav16).numpy())
    return profile.make_prompt(tokens, features.mel80(wav24).numpy(), heard.speaker)


def main() -> int:
    """One enrolment, told as JSON lines; 1 where no voice came of it."""
    report = Reporter(
        lambda line: _tell("progress", line), lambda finding: _tell("finding", dataclasses.asdict(finding))
    )
    try:
        header = enroll(Request(**json.load(sys.stdin)), report)
    except CosyVoiceError as error:
        _tell("problems", str(error).splitlines())
        return 1
    _tell("voice", dataclasses.asdict(header))
    return 0


def _refuse_problems(findings: Sequence[Finding]) -> None:
    names = [finding.check for finding in findings if finding.level == "problem"]
    if names:
        raise VoiceError([f"not added because of {', '.join(names)}; --force adds the voice all the same"])


def _fingerprint(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:FINGERPRINT_DIGITS]


def _tell(kind: str, content: object) -> None:
    print(json.dumps({kind: content}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
