"""Looks at a recording before a voice is made of it: `python -m cosyvoice.voices.examine`.

The checks that need no model, in a process of its own. It takes one JSON request on stdin and prints one JSON
line: what was found and measured, or `{"problems": [...]}`.
"""

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosyvoice.errors import CosyVoiceError
from cosyvoice.text import language
from cosyvoice.voices import activity, checks, clip, cut, transcript

FALLBACK_LANGUAGE = "en"  # where the script does not tell


@dataclass(frozen=True)
class Request:
    """A recording, and what is said in it as far as it is known."""

    recording: str
    text: str = ""
    language: str | None = None  # None: the text tells


def examine(request: Request) -> dict[str, Any]:
    """What the checks say, with the measures behind them. Raises `VoiceError`."""
    recording = clip.read(Path(request.recording))
    heard = activity.measure(recording.samples, recording.sample_rate_hz)
    text = transcript.plain(request.text) if request.text.strip() else ""
    spoken = request.language or language.guess(text, FALLBACK_LANGUAGE)
    phrases = activity.phrases(heard)
    kept = cut.choose(phrases, text, spoken, None)
    findings = checks.signal(recording, heard, kept)
    if text:
        findings.append(transcript.check(text, spoken, kept.speech_s))
    return {
        "findings": [dataclasses.asdict(finding) for finding in findings],
        "duration_s": round(recording.duration_s, 2),
        "speech_s": round(kept.speech_s, 2),
        "level_db": round(heard.speech_db, 1),
        "noise_db": round(heard.noise_db, 1),
        "sample_rate_hz": recording.sample_rate_hz,
    }


def main() -> int:
    """One look; 1 where no voice can be made of the recording."""
    try:
        told = examine(Request(**json.load(sys.stdin)))
    except CosyVoiceError as error:
        print(json.dumps({"problems": str(error).splitlines()}))
        return 1
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
