"""A device for the page to be tried with: what the API tells and changes, without an engine.

It "speaks" a text as a tone. A text that holds `boom` fails, an empty one is refused, `hot` heats the device.
"""

import io
import math
import queue
import struct
import threading
import time
import wave
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

RATE_HZ = 8000
VOICES = [
    {"name": "heart", "engine": "builtin", "languages": ["en"], "gender": "f", "description": "fast"},
    {"name": "zf_xiaoyi", "engine": "builtin", "languages": ["zh", "en"], "gender": "f", "description": ""},
    {"name": "mama", "engine": "cosyvoice3", "languages": ["zh"], "gender": "f", "description": ""},
]
STYLES = [
    {"name": "neutral", "label": "Neutral", "label_zh": "平静"},
    {"name": "happy", "label": "Happy", "label_zh": "开心"},
    {"name": "slow", "label": "Slow", "label_zh": "慢速"},
]
NOISY = {
    "check": "noise",
    "level": "problem",
    "what": "the speech is 9 dB over what is heard between the words",
}


def tone(duration_s: float) -> bytes:
    """A WAV whose level goes up and down like syllables."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        for n in range(round(duration_s * RATE_HZ)):
            level = abs(math.sin(n / RATE_HZ * 9)) * (0.3 + 0.7 * abs(math.sin(n / RATE_HZ * 2.3)))
            out.writeframesraw(struct.pack("<h", round(12000 * level * math.sin(n * 0.17))))
    return file.getvalue()


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Device:
    """What the API tells and changes; one thread speaks."""

    speaking_s: float = 0.6
    settings: Json = field(
        default_factory=lambda: {"volume": 80, "voice": "auto", "style": "neutral", "do_not_disturb": False}
    )
    voices: list[Json] = field(default_factory=lambda: [dict(voice) for voice in VOICES])
    recent: list[Json] = field(default_factory=list)
    waiting: list[Json] = field(default_factory=list)
    said: list[Json] = field(default_factory=list)  # the bodies that came, for tests
    checked: list[int] = field(default_factory=list)  # bytes of each clip that was checked
    current: Json | None = None
    paused: bool = False
    heat_c: float = 48.0
    listeners: set["queue.Queue[tuple[str, Json]]"] = field(default_factory=set)
    changed: threading.Condition = field(default_factory=threading.Condition)
    stops: bool = False
    _count: int = 0

    def state(self) -> Json:
        hot = self.heat_c >= 80
        spoken = sum(result["event"] == "finished" for result in self.recent)
        latency = {
            "count": spoken,
            "sum_s": 0.4 * spoken,
            "p50_s": 0.4,
            "p95_s": 0.9,
            "p99_s": 0.9,
            "max_s": 1.0,
        }
        return {
            "status": "paused" if self.paused else "speaking" if self.current else "idle",
            "queue_length": len(self.waiting),
            "speaking_id": self.current["id"] if self.current else None,
            "engine": "builtin",
            "throttle": "hot" if hot else "normal",
            "throttle_reason": f"the processor has {self.heat_c:.0f} °C" if hot else None,
            "temperature_c": self.heat_c + math.sin(time.monotonic() / 20),
            "undervoltage": False,
            "memory_available_bytes": round(2.1e9 + 5e7 * math.sin(time.monotonic() / 9)),
            "disk_free_bytes": 21_000_000_000,
            "worker_rss_bytes": 290_000_000,
            "outputs_bytes": 4_200_000,
            "uptime_s": 93_784,
            "version": "0.1.0",
            "problems": ["the speaker 'default' is not there: no sound card"] if hot else [],
            "metrics": {
                "results": {"finished": spoken},
                "success_rate": 0.996,
                "latency": latency if spoken else None,
                "cache_hit_rate": 0.31,
                "rtf_median": 0.2,
            },
            "last": self.recent[0] if self.recent else None,
            "settings": self.settings,
            "paused": self.paused,
        }

    def say(self, body: Json) -> tuple[int, Json]:
        text = str(body.get("text", "")).strip()
        if not text.strip("\u200b"):
            return 400, {"error": "there is nothing to say", "code": "nothing_to_say"}
        with self.changed:
            self.said.append(body)
            self._count += 1
            line = {
                "id": f"page-{self._count}",
                "text": text,
                "priority": body.get("priority", "message"),
                "voice": body.get("voice"),
                "style": body.get("style", "neutral"),
                "accepted_at": now(),
            }
            self.waiting.append(line)
            self._result(line, "accepted")
            self._change()
        return 202, {"id": line["id"]}

    def command(self, verb: str, body: Json) -> None:
        with self.changed:
            if verb in ("pause", "resume"):
                self.paused = verb == "pause"
            if verb in ("stop", "clear") and self.current:
                self.current["cancelled"] = True
            ended = self.waiting if verb == "clear" else []
            if verb == "cancel":
                ended = [line for line in self.waiting if line["id"] == body["id"]]
                if self.current and self.current["id"] == body["id"]:
                    self.current["cancelled"] = True
            for line in tuple(ended):
                self.waiting.remove(line)
                self._result(line, "cancelled")
            self._change()
        if verb == "replay" and self.recent:
            self.say({"text": self.recent[0]["text"]})

    def set(self, name: str, value: object) -> None:
        with self.changed:
            self.settings = {**self.settings, name: value}
            self._change()

    def speak(self) -> None:
        """Speaks what waits, one after the other, until the device stops."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.stops or (self.waiting and not self.paused))
                if self.stops:
                    return
                line = self.current = self.waiting.pop(0)
                self._result(line, "started")
                self._change()
            deadline_s = time.monotonic() + self.speaking_s
            with self.changed:
                while time.monotonic() < deadline_s and not (self.stops or line.get("cancelled")):
                    self.changed.wait(0.05)
                self.current = None
                self._end(line)
                self._change()

    def stop(self) -> None:
        with self.changed:
            self.stops = True
            self._change()

    def _end(self, line: Json) -> None:
        if line.get("cancelled"):
            self._result(line, "cancelled")
        elif "boom" in line["text"]:
            self._result(line, "failed", code="engine_failed", message="the engine crashed twice")
        else:
            self.heat_c = 84.0 if "hot" in line["text"] else 48.0
            sound = {"wav_path": f"/srv/outputs/20261130-{line['id']}.wav", "duration_s": 2.4, "rtf": 0.2}
            self._result(line, "finished", voice=line["voice"] or "heart", **sound)

    def _result(self, line: Json, event: str, **more: object) -> None:
        empty = dict.fromkeys(
            ("code", "message", "engine", "wav_path", "duration_s", "sample_rate_hz", "rtf")
        )
        told = {key: line[key] for key in ("id", "text", "voice", "style")}
        result = {**empty, **told, "event": event, "cached": False, "degraded": [], "at": now(), **more}
        if event not in ("accepted", "started"):
            self.recent.insert(0, result)
        self._tell("result", result)

    def _change(self) -> None:
        self._tell("state", self.state())
        self.changed.notify_all()

    def _tell(self, event: str, data: Json) -> None:
        for listener in tuple(self.listeners):
            listener.put((event, data))
