"""From a payload's bytes to a request's fields, whoever wrote them: people, templates, C programs."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from daemon import wording
from daemon.errors import AnnouncementError, Code

MAX_JSON_BYTES = 64 * 1024
# Around JSON: byte order marks, non-breaking spaces, and the NUL that C programs send with their strings.
_MARGIN = " \t\r\n\0\u00a0\u200b\u3000\ufeff"


def fields(payload: bytes) -> dict[str, Any]:
    """The request's fields, whatever they are; plain text becomes `text`. Raises `AnnouncementError`."""
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AnnouncementError(
            Code.BAD_ENCODING, f"the payload is not UTF-8 text (byte {error.start})"
        ) from error
    body = text.strip(_MARGIN)
    if not body.startswith(("{", "[{")):
        return {"text": text}
    if len(payload) > MAX_JSON_BYTES:
        raise AnnouncementError(
            Code.PAYLOAD_TOO_LARGE, f"the payload has {len(payload)} bytes, the limit is {MAX_JSON_BYTES}"
        )
    return _object(body)


def check(read: Mapping[str, Any], known: Collection[str]) -> None:
    """Raises `AnnouncementError` for a field that there is not, and for text that UTF-8 cannot carry."""
    for value in read.values():
        if isinstance(value, str) and encodable(value) != value:
            raise AnnouncementError(
                Code.BAD_ENCODING, "the payload holds half of a surrogate pair (\\ud800 ...)"
            )
    for name in read:
        if name not in known:
            near = wording.did_you_mean(name, known) or f"; the fields are {', '.join(known)}"
            raise AnnouncementError(Code.UNKNOWN_FIELD, f"there is no field '{shortened(name)}'{near}")


def _object(text: str) -> dict[str, Any]:
    """A JSON object; raw line breaks inside strings pass, since templates produce them."""
    try:
        read = json.loads(text, strict=False, parse_constant=_no_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        detail = getattr(error, "msg", None) or str(error)
        line = (
            f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        )
        raise AnnouncementError(
            Code.BAD_JSON, f"the text starts with {text[0]} and is not valid JSON: {detail}{line}"
        ) from error
    if not isinstance(read, dict):
        raise AnnouncementError(Code.BAD_JSON, "the payload is a JSON list; send one object for each request")
    result: dict[str, Any] = read
    return result


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("a field stands twice")
    return read


def encodable(text: str) -> str:
    """`text` with each half of a surrogate pair replaced: JSON can write one, UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


def shortened(value: str) -> str:
    """As much of `value` as an error quotes."""
    return value if len(value) <= 60 else value[:57] + "..."
