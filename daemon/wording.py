"""How errors say what was meant and what is expected, in one way everywhere."""

import difflib
import errno
import os
import socket
from collections.abc import Iterable
from enum import EnumMeta
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` was probably meant to be."""
    matches = difflib.get_close_matches(word.casefold()[:64], list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` or nothing, to be put behind an error's sentence."""
    match = nearest(word, known)
    return f"; did you mean '{match}'?" if match else ""


def cannot_listen(section: str, host: str, port: int, error: OSError) -> str:
    """Why a server cannot have its address, and what to do about it."""
    if error.errno == errno.EADDRINUSE:
        return f"{section}: {host}:{port} is taken; set {section}.port to a free port"
    reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
    return f"{section}: cannot listen at {host}:{port}: {reason}"


def expected(hint: Any) -> str:
    """What a value of this type is, in words: `a whole number from 0 to 100`."""
    if get_origin(hint) is Annotated:
        base, *notes = get_args(hint)
        meta = next(note for note in notes if isinstance(note, msgspec.Meta))
        return meta.description or expected(base) + _bounds(meta)
    if get_origin(hint) is Literal or isinstance(hint, EnumMeta):
        return "one of " + ", ".join(get_args(hint) or list(hint))
    if options := get_args(hint):
        if get_origin(hint) is tuple:
            return "a list, each " + expected(options[0])
        return " or ".join(expected(option) for option in options)
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return "a mapping of options"
    words = {int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}
    return words.get(hint, "text")


def _bounds(meta: msgspec.Meta) -> str:
    if meta.max_length is not None:
        return f" of {meta.min_length or 0} to {meta.max_length} characters"
    if meta.gt is not None:
        return f" above {meta.gt:g}"
    if meta.le is not None:
        return f" from {meta.ge:g} to {meta.le:.12g}"
    return f" of at least {meta.ge:g}"
