"""A job whose sound came with its request: kept in the phrase cache, and played from there."""

import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path

from daemon.audio import given
from daemon.audio.wav import WavError, WavWriter, read_blocks
from daemon.clock import Moment
from daemon.errors import AnnouncementError, Code
from daemon.hermes.messages import Asker
from daemon.jobs.job import Job, Priority, Sound
from daemon.mqtt.intake import Defaults, Envelope, Refused, fingerprint, make_id
from daemon.storage.phrases import Phrase, PhraseCache

ENGINE = "given"  # as results name what no engine made


class GivenSound:
    """Stands where a `Rendering` does: sound that is there already."""

    voice: str | None = None
    engine = ENGINE
    degraded: tuple[str, ...] = ()
    rtf: float | None = None
    cached: bool | None = None  # it neither hit the cache nor missed it
    whole = True

    def __init__(self, sound: Sound, cache: PhraseCache) -> None:
        self._sound = sound
        self.sample_rate_hz = sound.sample_rate_hz
        self.duration_s = sound.duration_s
        self.keys = (sound.key,)
        self.wav: Path = cache.wav(sound.key)
        self.disk_error: AnnouncementError | None = None

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The sound as 16-bit PCM, in order. Raises `AnnouncementError` when it is not there any more."""
        try:
            for pcm in read_blocks(self.wav):
                yield pcm
        except (OSError, WavError) as error:
            raise AnnouncementError(Code.ENGINE_FAILED, f"the sound is gone: {error}") from error


def job(
    payload: bytes, asker: Asker, envelope: Envelope, cache: PhraseCache, defaults: Defaults, now: Moment
) -> Job:
    """The job that plays `payload`, a WAV file, as it is: without a chime. Blocks on the disk.

    Raises:
        Refused: it cannot be played, or not be kept.
    """
    try:
        sound = _keep(payload, cache)
    except AnnouncementError as error:
        raise Refused(error, make_id(), None) from error
    return Job(
        id=make_id(),
        text="",
        language=defaults.language,
        style=defaults.style,
        voice=None,
        seed=defaults.seed,
        speed=1.0,
        volume=None,
        priority=Priority.MESSAGE,
        chime=None,
        repeat=1,
        repeat_pause_s=0.0,
        ttl_s=defaults.ttl_s,
        output="speaker",
        reply_to=None,
        correlation_data=None,
        accepted_at=now,
        fingerprint=fingerprint(envelope, payload),
        sound=sound,
        asker=asker,
    )


def _keep(payload: bytes, cache: PhraseCache) -> Sound:
    """Puts a sound into the cache, once however often it comes. Raises `AnnouncementError`."""
    try:
        rate_hz, pcm = decoded = given.decode(payload)
    except WavError as error:
        too_large = len(payload) > given.MAX_BYTES
        raise AnnouncementError(
            Code.PAYLOAD_TOO_LARGE if too_large else Code.OUT_OF_RANGE, str(error)
        ) from error
    key = hashlib.sha256(f"{ENGINE}:{rate_hz}:".encode() + pcm).hexdigest()
    sound = Sound(key=key, sample_rate_hz=rate_hz, duration_s=decoded.duration_s)
    if cache.find(key) is not None:
        return sound
    phrase = Phrase(engine=ENGINE, voice="", sample_rate_hz=rate_hz, duration_s=sound.duration_s, degraded=())
    try:
        cache.check_room()
        with WavWriter(cache.wav(key), rate_hz) as writer:
            writer.write(pcm)
            cache.describe(key, phrase)
            writer.finish()
    except OSError as error:
        raise AnnouncementError(Code.DISK_FULL, f"the sound cannot be kept: {error.strerror}") from error
    return sound
