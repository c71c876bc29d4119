"""The folder of enrolled voices, one file each; the standard library is enough to list and to remove."""

import os
from dataclasses import dataclass
from pathlib import Path

from cosyvoice import folders
from cosyvoice.errors import VoiceError
from cosyvoice.voices import names
from cosyvoice.voices.index import SUFFIX, VoiceHeader, read_header


@dataclass(frozen=True)
class Listing:
    """What a folder holds: voices by name, and a sentence for each file that cannot be used."""

    voices: tuple[VoiceHeader, ...]
    problems: tuple[str, ...]


class VoiceStore:
    """Voices by name. Names are checked here, so that no caller can be talked into another path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Where the voice of this name is, or would be. Raises `VoiceError`."""
        return self.folder / f"{names.checked(name)}{SUFFIX}"

    def header(self, name: str) -> VoiceHeader:
        """Raises `VoiceError`: there is no such voice, or its file cannot be used."""
        return read_header(self.path(name))

    def list(self) -> Listing:
        """All voices. Raises `VoiceError`: the folder itself cannot be read."""
        try:
            files = sorted(path for path in self.folder.iterdir() if _is_voice(path))
        except FileNotFoundError:
            return Listing((), ())
        except OSError as error:
            raise VoiceError([f"the folder {self.folder} cannot be read: {error.strerror}"]) from error
        voices: list[VoiceHeader] = []
        problems: list[str] = []
        for path in files:
            try:
                voices.append(read_header(path))
            except VoiceError as error:
                problems += error.problems
        return Listing(tuple(voices), tuple(problems))

    def make_folder(self) -> None:
        """Makes the folder, or closes the one there to all but its owner. Raises `VoiceError`."""
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            if not self.folder.is_dir():
                self.folder.mkdir(mode=0o700)
                give_to_owner_of(self.folder.parent, self.folder)
            self.folder.chmod(0o700)
        except OSError as error:
            raise VoiceError([f"the folder {self.folder} cannot be used: {error.strerror}"]) from error

    def refuse_taken(self, name: str) -> None:
        """Raises `VoiceError`: there is a voice of this name already."""
        path = self.path(name)
        if os.path.lexists(path):
            raise VoiceError([f"there is a voice '{path.stem}' already; remove it first, or add --replace"])

    def remove(self, name: str) -> None:
        """Deletes the voice's file for good, damaged or not. Raises `VoiceError`."""
        path = self.path(name)
        try:
            path.unlink()
            folders.sync(self.folder)
        except FileNotFoundError as error:
            raise VoiceError([f"there is no voice '{path.stem}'"]) from error
        except OSError as error:
            raise VoiceError([f"{path} cannot be removed: {error.strerror}"]) from error


def give_to_owner_of(folder: Path, made: Path | int) -> None:
    """What root makes in a service's folder must be the service's, or the service could not read it."""
    if os.geteuid() == 0:
        owner = folder.stat()
        os.chown(made, owner.st_uid, owner.st_gid)


def _is_voice(path: Path) -> bool:
    return path.suffix == SUFFIX and not path.name.startswith(".")
