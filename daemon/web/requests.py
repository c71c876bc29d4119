"""What is read of a request, within bounds of size and time."""

import asyncio
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request

from daemon.errors import Code
from daemon.mqtt.payload import MAX_JSON_BYTES
from daemon.web.access import client_of, media_type
from daemon.web.refusals import Refusal, WebCode

BODY_DEADLINE_S = 20.0
MAX_QUERY_CHARACTERS = 8192

T = TypeVar("T")


def client(request: Request) -> str:
    """Whose request it is, for limits."""
    return client_of(request.client.host if request.client else None)


async def body(request: Request, max_bytes: int) -> bytes:
    """The whole body. Raises `Refusal` (408, 413), the latter before anything is read where that is known."""
    too_large = Refusal(413, Code.PAYLOAD_TOO_LARGE, f"the limit is {max_bytes} bytes")
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told[:20]) > max_bytes:
        raise too_large
    read = bytearray()
    try:
        async with asyncio.timeout(BODY_DEADLINE_S):
            async for chunk in request.stream():
                read += chunk
                if len(read) > max_bytes:
                    raise too_large
    except TimeoutError as error:
        message = f"the request did not come within {BODY_DEADLINE_S:.0f} s"
        raise Refusal(408, WebCode.REQUEST_TIMEOUT, message) from error
    return bytes(read)


async def json_body(request: Request) -> bytes:
    """The bytes of a JSON object. Raises `Refusal` (400, 408, 413, 415)."""
    if media_type(request.headers.get("content-type", "")) != "application/json":
        message = "send JSON, with 'Content-Type: application/json'"
        raise Refusal(415, WebCode.UNSUPPORTED_MEDIA_TYPE, message)
    read = await body(request, MAX_JSON_BYTES)
    if not read.lstrip().startswith(b"{"):
        raise Refusal(400, Code.BAD_JSON, "the body is not a JSON object")
    return read


async def struct(request: Request, kind: type[T]) -> T:
    """The body as a message of this kind. Raises `Refusal`, as `json_body` does."""
    read = await json_body(request)
    try:
        return msgspec.json.decode(read, type=kind)
    except msgspec.ValidationError as error:
        raise Refusal(400, Code.OUT_OF_RANGE, str(error)) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refusal(400, Code.BAD_JSON, f"the body is not valid JSON: {error}") from error


def query(request: Request) -> dict[str, Any]:
    """The query's fields, each at most once. Raises `Refusal` (400, 413)."""
    if len(request.url.query) > MAX_QUERY_CHARACTERS:
        raise Refusal(413, Code.PAYLOAD_TOO_LARGE, f"the limit is {MAX_QUERY_CHARACTERS} characters of query")
    pairs = request.query_params.multi_items()
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Refusal(400, Code.BAD_JSON, "a field stands twice")
    return fields
