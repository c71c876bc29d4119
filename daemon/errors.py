"""The daemon's errors; each maps one to one to a code that users meet in results."""

from enum import StrEnum


class Code(StrEnum):
    """Stable result codes of the MQTT contract."""

    BAD_JSON = "bad_json"
    BAD_ENCODING = "bad_encoding"
    UNKNOWN_FIELD = "unknown_field"
    MISSING_TEXT = "missing_text"
    NOTHING_TO_SAY = "nothing_to_say"
    TEXT_TOO_LONG = "text_too_long"
    UNKNOWN_STYLE = "unknown_style"
    UNKNOWN_VOICE = "unknown_voice"
    BAD_ANNOTATION = "bad_annotation"
    OUT_OF_RANGE = "out_of_range"
    QUEUE_FULL = "queue_full"
    DUPLICATE = "duplicate"
    ENGINE_FAILED = "engine_failed"
    ENGINE_TIMEOUT = "engine_timeout"
    AUDIO_DEVICE = "audio_device"
    DISK_FULL = "disk_full"
    THROTTLED = "throttled"
    SHUTTING_DOWN = "shutting_down"
    PAYLOAD_TOO_LARGE = "payload_too_large"


class CosyvoicedError(Exception):
    """Base of all errors of the daemon; `str(error)` is one sentence for the user."""


class AnnouncementError(CosyvoicedError):
    """One announcement ends here, with a stable code; the daemon goes on."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
