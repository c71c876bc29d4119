"""What users set over MQTT; it survives a restart."""

import logging
import os
from pathlib import Path

import msgspec

log = logging.getLogger(__name__)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Each is None until it is set: then the configuration's value counts."""

    volume: int | None = None  # 0 to 100
    voice: str | None = None
    style: str | None = None
    do_not_disturb: bool = False


class SettingsFile:
    """One small JSON file, written whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> Settings:
        """The stored settings; defaults where there are none or they cannot be read."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Settings)
        except FileNotFoundError:
            return Settings()
        except (OSError, msgspec.DecodeError) as error:
            log.warning("the settings in %s cannot be read (%s); the defaults count", self._path, error)
            return Settings()

    def save(self, settings: Settings) -> None:
        """Writes and synchronises the file. Raises `OSError`."""
        temporary = self._path.with_name(f".{self._path.name}.tmp")
        with temporary.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(settings)))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path)
