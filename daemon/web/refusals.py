"""Why a request is turned away: a status for programs, a stable code, and a sentence."""

from enum import StrEnum

from starlette.responses import JSONResponse

from daemon.errors import AnnouncementError, Code


class WebCode(StrEnum):
    """Stable codes of the gateway, besides those of announcements."""

    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    REQUEST_TIMEOUT = "request_timeout"
    NOT_POSSIBLE = "not_possible"
    LENGTH_REQUIRED = "length_required"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    BAD_RECORDING = "bad_recording"
    RATE_LIMITED = "rate_limited"
    BUSY = "busy"
    EXPIRED = "expired"
    INTERNAL = "internal"


class Refusal(Exception):
    """A request that ends here; the message is for the user."""

    def __init__(
        self, status: int, code: WebCode | Code, message: str, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s

    def response(self) -> JSONResponse:
        headers: dict[str, str] = {}
        if self.retry_after_s is not None:
            headers["Retry-After"] = str(max(1, round(self.retry_after_s)))
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse({"error": self.message, "code": self.code}, self.status, headers)


# What is not named here is a fault of the request itself.
_STATUSES = {
    Code.DUPLICATE: 409,
    Code.PAYLOAD_TOO_LARGE: 413,
    Code.QUEUE_FULL: 503,
    Code.ENGINE_FAILED: 503,
    Code.THROTTLED: 503,
    Code.SHUTTING_DOWN: 503,
    Code.DISK_FULL: 503,
    Code.AUDIO_DEVICE: 503,
    Code.ENGINE_TIMEOUT: 504,
}


def status_of(code: Code | None) -> int:
    """The status that says the same to an HTTP client."""
    return 503 if code is None else _STATUSES.get(code, 400)


def of(error: AnnouncementError) -> Refusal:
    """The refusal that says what the error says."""
    return Refusal(status_of(error.code), error.code, error.message)
