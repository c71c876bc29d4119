"""Large read-only string tables in a fraction of a dict's memory.

The language tables of pypinyin and hibari take 150 MiB as Python dicts and 20 MiB packed; a lookup is a
binary search of some ten microseconds, which a sentence does not notice.
"""

import functools
import json
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from json.decoder import scanstring  # type: ignore[attr-defined]  # public in fact, absent from typeshed
from typing import Any

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"


class PackedTable:
    """An immutable mapping from str to JSON values, kept as sorted text and decoded on each lookup."""

    def __init__(self, blob: bytes, starts: "array[int]") -> None:
        self._blob = blob
        self._starts = starts

    @classmethod
    def of(cls, members: Iterable[tuple[str, str]]) -> "PackedTable":
        """Packs pairs of key and JSON text; neither holds a tab or a line feed."""
        lines = sorted(f"{key}\t{value}\n".encode() for key, value in members)
        starts = array("I", [0])
        for line in lines:
            starts.append(starts[-1] + len(line))
        return cls(b"".join(lines), starts)

    @classmethod
    def from_json(cls, text: str, at: int = 0) -> tuple["PackedTable", int]:
        """Packs the JSON object that begins at `text[at]`, member by member; also returns where it ends."""
        members: list[tuple[str, str]] = []
        at = _skip(text, at, "{")
        while text[at] != "}":
            key, at = scanstring(text, _skip(text, at, '"'))
            start = _skip(text, at, ":")
            value, end = _DECODER.raw_decode(text, start)
            members.append((key, text[start:end] if "\n" not in text[start:end] else json.dumps(value)))
            at = _skip(text, end, "")
            if text[at] == ",":
                at = _skip(text, at + 1, "")
        return cls.of(members), at + 1

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, decoded."""
        wanted = key.encode() + b"\t"
        key_at = functools.partial(self._key, length=len(wanted))
        index = bisect_left(self._starts, wanted, hi=len(self), key=key_at)
        start = self._starts[index]
        if index == len(self) or key_at(start) != wanted:
            return default
        return json.loads(self._blob[start + len(wanted) : self._starts[index + 1]])

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __len__(self) -> int:
        return len(self._starts) - 1

    def _key(self, start: int, length: int) -> bytes:
        return self._blob[start : start + length]


def _skip(text: str, at: int, expected: str) -> int:
    """The index behind any white space, `expected`, and any white space."""
    while text[at] in _SPACE:
        at += 1
    if not text.startswith(expected, at):
        raise ValueError(f"expected {expected!r} at character {at}")
    at += len(expected)
    while expected and expected != '"' and text[at] in _SPACE:
        at += 1
    return at
