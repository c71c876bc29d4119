"""What `<n>/command/...` and `<n>/set/...` do."""

import logging
from collections.abc import Awaitable, Callable, Collection

import msgspec

from daemon import styles, wording
from daemon.clock import Clock
from daemon.config import Config
from daemon.errors import AnnouncementError, CosyvoicedError
from daemon.jobs.announcer import Announcer
from daemon.jobs.journal import Entry
from daemon.jobs.ledger import Ledger
from daemon.jobs.pipeline import Pipeline
from daemon.jobs.queue import JobQueue
from daemon.jobs.reception import Reception
from daemon.mqtt.intake import OFF_WORDS, ON_WORDS, make_id
from daemon.mqtt.link import Link
from daemon.mqtt.messages import Event
from daemon.mqtt.results import Results
from daemon.mqtt.topics import Topics
from daemon.storage.settings import SettingsStore

log = logging.getLogger(__name__)

VERBS = ("stop", "clear", "cancel", "pause", "resume", "replay", "reload")
SETTINGS = ("volume", "voice", "style", "do_not_disturb")


class ControlError(CosyvoicedError):
    """A command or a setting that cannot be done as it was sent."""


class Controls:
    """Commands and settings. A wrong one changes nothing and is logged with what would be right."""

    def __init__(
        self,
        config: Config,
        link: Link,
        topics: Topics,
        queue: JobQueue,
        pipeline: Pipeline,
        announcer: Announcer,
        reception: Reception,
        results: Results,
        ledger: Ledger,
        settings: SettingsStore,
        voices: Callable[[], Collection[str]],
        clock: Clock,
        reload: Callable[[], None],
        changed: Callable[[], None],
    ) -> None:
        self._config = config
        self._link = link
        self._topics = topics
        self._queue = queue
        self._pipeline = pipeline
        self._announcer = announcer
        self._reception = reception
        self._results = results
        self._ledger = ledger
        self._settings = settings
        self._voices = voices
        self._clock = clock
        self._reload = reload
        self._changed = changed

    async def command(self, verb: str, payload: bytes, caught_up: Awaitable[None]) -> None:
        """Carries out one command. Raises `ControlError`.

        Args:
            caught_up: done when every request that came before the command is in the queue.
        """
        match verb:
            case "stop":
                self._pipeline.interrupt(self._queue.current, "stop")
            case "clear":
                await self._clear()
                await caught_up
                await self._clear()
            case "cancel":
                await caught_up
                await self._cancel(_text(payload))
            case "pause":
                self._queue.pause()
                await self._announcer.pause()
            case "resume":
                self._queue.resume()
                await self._announcer.resume()
            case "replay":
                await self._replay()
            case "reload":
                self._reload()
            case _:
                near = wording.did_you_mean(verb, VERBS) or f"; the commands are {', '.join(VERBS)}"
                raise ControlError(f"there is no command '{verb[:60]}'{near}")
        log.info("command: %s", verb)
        self._changed()

    def set(self, name: str, payload: bytes) -> None:
        """Changes one setting, keeps it and echoes it. Raises `ControlError`, the old value echoed."""
        try:
            if name not in SETTINGS:
                near = wording.did_you_mean(name, SETTINGS) or f"; the settings are {', '.join(SETTINGS)}"
                raise ControlError(f"there is no setting '{name[:60]}'{near}")
            value = self._parse(name, _text(payload))
            by_clock = self._settings.current.quiet_by_clock and name != "do_not_disturb"
            self._settings.save(
                msgspec.structs.replace(self._settings.current, quiet_by_clock=by_clock, **{name: value})
            )
            log.info("setting: %s is %s", name, value)
        finally:
            if name in SETTINGS:
                self.echo(name)
        self._changed()

    def echo(self, name: str) -> None:
        """Publishes a setting's value in force, retained."""
        value = self.values[name]
        told = ("ON" if value else "OFF") if isinstance(value, bool) else str(value)
        self._link.publish(self._topics.settings(name), told.encode(), retain=True)

    @property
    def values(self) -> dict[str, int | str | bool]:
        """Every setting's value in force."""
        current = self._settings.current
        return {
            "volume": self._config.speaker.volume if current.volume is None else current.volume,
            "voice": current.voice or self._config.voice,
            "style": current.style or self._config.style,
            "do_not_disturb": current.do_not_disturb,
        }

    def echo_all(self) -> None:
        for name in SETTINGS:
            self.echo(name)

    def _parse(self, name: str, text: str) -> int | str | bool:
        match name:
            case "volume":
                try:
                    volume = round(float(text))
                except (ValueError, OverflowError):
                    volume = -1
                if not 0 <= volume <= 100:
                    raise ControlError(f"volume must be a whole number from 0 to 100, not '{text[:60]}'")
                return volume
            case "voice":
                if text != "auto" and text not in self._voices():
                    near = wording.did_you_mean(text, self._voices())
                    raise ControlError(f"there is no voice '{text[:60]}'{near}")
                return text
            case "style":
                style = styles.resolve(text)
                if style is None:
                    near = wording.did_you_mean(text, styles.PRESETS)
                    raise ControlError(f"there is no style '{text[:60]}'{near}")
                return style
            case _:
                if text.lower() not in ON_WORDS + OFF_WORDS:
                    raise ControlError(f"{name} must be ON or OFF, not '{text[:60]}'")
                return text.lower() in ON_WORDS

    async def _clear(self) -> None:
        """Silence at once; the disk comes after."""
        self._pipeline.interrupt(self._queue.current, "stop")
        await self._cancelled(self._queue.clear())

    async def _cancel(self, job_id: str) -> None:
        waiting, current = self._queue.cancel(job_id), self._queue.current
        is_spoken = current is not None and current.job.id == job_id
        if is_spoken:
            self._pipeline.interrupt(current, "stop")
        await self._cancelled(waiting)
        if not waiting and not is_spoken:
            raise ControlError(f"no announcement with the id '{job_id[:60]}' is waiting or being spoken")

    async def _cancelled(self, entries: list[Entry]) -> None:
        await self._results.end(entries, Event.CANCELLED, lambda entry: "cancelled")

    async def _replay(self) -> None:
        """Says the last finished announcement again, as a new one to the one who asked first."""
        job = await self._ledger.last_finished()
        if job is None:
            raise ControlError("nothing has been spoken yet that could be replayed")
        again = msgspec.structs.replace(
            job,
            id=make_id(),
            accepted_at=self._clock(),
            fingerprint="",
            reply_to=None,
            correlation_data=None,
            asker=None,
        )
        try:
            await self._reception.admit(again)
        except AnnouncementError as error:
            raise ControlError(error.message) from error


def _text(payload: bytes) -> str:
    try:
        return payload.decode("utf-8").strip().strip('"')
    except UnicodeDecodeError as error:
        raise ControlError("the payload is not UTF-8 text") from error
