"""Puts the service's files in their places: whole, and never over what somebody has edited."""

import contextlib
import os
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from cosyvoice import folders
from daemon.service import templates
from daemon.service.templates import ServiceError


class State(StrEnum):
    """How the place of a file is before it is written."""

    NEW = "new"
    SAME = "same"
    OUTDATED = "outdated"  # written by an earlier `install`, and not edited since
    KEPT = "kept"  # somebody's own


class Placed(NamedTuple):
    """One file to be in place."""

    path: Path
    content: str
    is_ours: bool  # else it is the user's own from its first day on: a configuration
    folder_mode: int = 0o755  # of the folders on the way that are not there yet


def state(file: Placed) -> State:
    """What is to be done about a file. Raises `ServiceError`: what is there cannot be read."""
    if not os.path.lexists(file.path):
        return State.NEW
    if not file.is_ours:
        return State.KEPT
    if file.path.is_symlink():  # of somebody's own making, or of `systemctl mask`
        return State.KEPT
    try:
        there = file.path.read_bytes()
    except OSError as error:
        raise ServiceError(f"{file.path} is there and cannot be read: {error.strerror}") from error
    if there == file.content.encode():
        return State.SAME
    return State.KEPT if templates.is_edited(there) else State.OUTDATED


def write(file: Placed) -> None:
    """Writes a file, whole or not at all, for everybody to read. Raises `ServiceError`."""
    temporary = file.path.with_name(f".{file.path.name}.tmp")
    try:
        _make_folders(file.path.parent, file.folder_mode)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "wb") as opened:
            os.fchmod(opened.fileno(), 0o644)  # whatever root's umask is: the service's user reads it
            opened.write(file.content.encode())
            opened.flush()
            os.fsync(opened.fileno())
        temporary.replace(file.path)
        folders.sync(file.path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise ServiceError(f"{file.path} cannot be written: {error.strerror}") from error


def _make_folders(folder: Path, mode: int) -> None:
    if not folder.exists():
        _make_folders(folder.parent, mode)
        folder.mkdir()
        folder.chmod(mode)  # not by mkdir, which heeds the umask
