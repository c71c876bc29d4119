"""The messages between the daemon and the worker process."""

import msgspec

from daemon.children.frames import Codec, Frame, NotReady, Ready
from daemon.synthesis.engine import SynthesisRequest


class Synthesize(Frame, frozen=True):
    """Asks for one announcement's speech. One at a time: the next comes after `Spoken` or `Failed`."""

    job: int
    request: SynthesisRequest
    gentle: bool = False  # the device is warm: make less heat, whatever that costs in time


class Cancel(Frame, frozen=True):
    """Stop working on this job soon; it still ends in `Spoken` or `Failed`."""

    job: int


class Ping(Frame, frozen=True):
    """Answered by `Pong` even while a job is being worked on."""

    token: int


class Speech(Frame, frozen=True):
    """One piece of speech as 16-bit little-endian mono PCM at the rate told by `Ready`."""

    job: int
    pcm: bytes
    degraded: tuple[str, ...] = ()
    synthesis_s: float = 0.0  # the engine's working time for this piece


class Spoken(Frame, frozen=True):
    """All pieces of this job have been sent."""

    job: int
    cancelled: bool = False


class Failed(Frame, frozen=True):
    """The engine could not do this job; it takes the next one, unless `broken`: then the worker ends."""

    job: int
    message: str
    broken: bool = False


class Pong(Frame, frozen=True):
    token: int
    rss_bytes: int


class WorkerReady(msgspec.Struct, frozen=True, kw_only=True):
    """`Ready.details` of the worker."""

    engine: str
    version: str
    sample_rate_hz: int


WorkerMessage = Ready | NotReady | Speech | Spoken | Failed | Pong
DaemonMessage = Synthesize | Cancel | Ping

FROM_WORKER: Codec[WorkerMessage] = Codec(WorkerMessage)
TO_WORKER: Codec[DaemonMessage] = Codec(DaemonMessage)
