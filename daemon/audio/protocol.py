"""The messages between the daemon and the player process. PCM is 16-bit little-endian mono."""

import msgspec

from daemon.children.frames import Codec, Frame, Ready


class Play(Frame, frozen=True):
    """Opens the device for one announcement. One at a time: the next comes after its last message."""

    announcement: int
    sample_rate_hz: int  # of all PCM that follows
    volume: int = 100  # 0 to 100
    lead_in_s: float = 0.0  # silence before the sound, left out where the sink is still awake
    tail_s: float = 0.0  # silence after the sound


class Audio(Frame, frozen=True):
    """The next piece of sound; pieces are joined without a gap."""

    announcement: int
    pcm: bytes


class End(Frame, frozen=True):
    """No more `Audio` comes: play what is there to its last sample."""

    announcement: int


class Stop(Frame, frozen=True):
    """Fades out over `fade_s` and forgets the rest."""

    announcement: int
    fade_s: float


class Pause(Frame, frozen=True):
    """Fades to silence and holds the place."""

    announcement: int


class Resume(Frame, frozen=True):
    """Goes on from where `Pause` began to fade."""

    announcement: int


class Ping(Frame, frozen=True):
    """Answered by `Pong` once everything before it has been played: so it is sent in silence only."""


class Opened(Frame, frozen=True):
    """The device has taken the stream."""

    announcement: int
    sample_rate_hz: int  # of the device: other than the announcement's where it refused that
    channels: int


class Began(Frame, frozen=True):
    """The first sample of sound (after the lead-in) was handed to the device."""

    announcement: int
    at_s: float  # `time.monotonic()`, which all processes of a machine share


class Playing(Frame, frozen=True):
    """The device goes on taking samples; sent every half second, during silence and pauses too."""

    announcement: int
    position_s: float  # sound handed to the device so far


class Finished(Frame, frozen=True):
    """The last sample was heard."""

    announcement: int
    position_s: float
    underruns: int  # how often silence was played because the next piece had not come in time
    device_underruns: int  # how often the device ran dry although there was sound


class Stopped(Frame, frozen=True):
    """The fade after `Stop` was heard."""

    announcement: int
    position_s: float


class Failed(Frame, frozen=True):
    """The device refused or broke; `message` is one sentence for the user."""

    announcement: int
    message: str


class Pong(Frame, frozen=True):
    """The part that plays is there, and idle."""


class OutputDevice(msgspec.Struct, frozen=True, kw_only=True):
    """A sound output as PortAudio lists it."""

    index: int
    name: str
    channels: int  # the most it takes
    sample_rate_hz: int  # its own


class PlayerReady(msgspec.Struct, frozen=True, kw_only=True):
    """`Ready.details` of the player."""

    devices: tuple[OutputDevice, ...] = ()
    chosen: str = ""  # name of the device that will be played on; empty: none, and `problem` says why
    problem: str = ""


PlayerMessage = Ready | Opened | Began | Playing | Finished | Stopped | Failed | Pong
SpeakerMessage = Play | Audio | End | Stop | Pause | Resume | Ping

FROM_PLAYER: Codec[PlayerMessage] = Codec(PlayerMessage)
TO_PLAYER: Codec[SpeakerMessage] = Codec(SpeakerMessage)
