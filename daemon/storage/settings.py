"""What users set over MQTT; it survives a restart."""

import logging
from pathlib import Path

import msgspec

from daemon.storage.folders import write_whole

log = logging.getLogger(__name__)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Each of the first three is None until it is set: then the configuration's value counts."""

    volume: int | None = None  # 0 to 100
    voice: str | None = None
    style: str | None = None
    do_not_disturb: bool = False
    quiet_by_clock: bool = False  # the quiet hours switched do_not_disturb on


class SettingsStore:
    """The settings in force, and one small JSON file, written whole at every change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.current = Settings()

    def load(self) -> None:
        """Reads the file; the defaults count where there is none or it cannot be read."""
        try:
            self.current = msgspec.json.decode(self._path.read_bytes(), type=Settings)
        except FileNotFoundError:
            return
        except (OSError, msgspec.DecodeError) as error:
            log.warning("the settings in %s cannot be read (%s); the defaults count", self._path, error)

    def save(self, settings: Settings) -> None:
        """Takes the settings into force, and writes them; a failure to write is logged."""
        self.current = settings
        try:
            write_whole(self._path, msgspec.json.format(msgspec.json.encode(settings)))
        except OSError as error:
            log.warning("the settings cannot be written, they count until the next start: %s", error)
