"""The configuration's shape: every option, its default, its unit and its range."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Seconds = Annotated[float, Meta(ge=0)]
Celsius = Annotated[float, Meta(ge=20, le=150)]
Mebibytes = Annotated[int, Meta(ge=0)]
Port = Annotated[int, Meta(ge=1, le=65535)]
Name = Annotated[str, Meta(min_length=1, max_length=128)]
ClockTime = Annotated[
    str, Meta(pattern=r"^([01]?[0-9]|2[0-3]):[0-5][0-9]$", description="a time such as 22:00")
]

LanguageCode = Annotated[
    str, Meta(pattern=r"^[a-z]{2,3}$", description="an ISO 639-1 code such as zh, en or ja")
]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every section; an unknown key is an error."""


class Tls(Section, frozen=True):
    ca_file: str | None = None  # None: the system's certificates
    cert_file: str | None = None
    key_file: str | None = None


class Mqtt(Section, frozen=True):
    broker: Literal["embedded", "external"] = "embedded"
    host: Name = "127.0.0.1"
    port: Port = 1883
    username: str | None = None
    password_file: str | None = None
    tls: Tls | None = None
    base_topic: Name = "cosyvoice"
    node: Name | None = None  # None: the host name
    groups: tuple[Name, ...] = ()
    keepalive_s: Annotated[int, Meta(ge=5, le=3600)] = 30
    session_expiry_s: Annotated[int, Meta(ge=0, le=86400)] = 300


class Homeassistant(Section, frozen=True):
    discovery: bool = True  # False: what was announced before is cleared
    prefix: Name = "homeassistant"  # as in Home Assistant's own MQTT options


class Speaker(Section, frozen=True):
    device: Name = "auto"  # auto | none | default | a device's name
    volume: Annotated[int, Meta(ge=0, le=100)] = 100
    lead_in_s: Annotated[float, Meta(ge=0, le=5)] = 0.2
    tail_s: Annotated[float, Meta(ge=0, le=5)] = 0.2
    chime: bool | Name = False


class Store(Section, frozen=True):
    """A folder of WAV files that the daemon prunes, least recently used first."""

    path: str | None = None
    max_mib: Annotated[int, Meta(ge=1)] = 512
    max_age_days: Annotated[float, Meta(gt=0)] = 30.0
    max_files: Annotated[int, Meta(ge=1)] = 5000
    keep_recent_s: Seconds = 600.0  # never prune what a result named within this time


class Outputs(Store, frozen=True):
    path: str = "outputs"


class Phrases(Store, frozen=True):
    max_mib: Annotated[int, Meta(ge=1)] = 256
    max_age_days: Annotated[float, Meta(gt=0)] = 90.0
    keep_recent_s: Seconds = 0.0


class State(Section, frozen=True):
    path: str | None = None  # None: $STATE_DIRECTORY (systemd), else ./state


class Limits(Section, frozen=True):
    max_text_length: Annotated[int, Meta(ge=1, le=2000)] = 200
    queue_length: Annotated[int, Meta(ge=1, le=100_000)] = 50
    ttl_s: Annotated[float, Meta(ge=1, le=86400)] = 120.0


class Worker(Section, frozen=True):
    threads: Annotated[int, Meta(ge=0, le=64)] = 0  # 0: one per core, at most 4
    idle_unload_s: Seconds = 600.0  # 0: never
    load_deadline_s: Annotated[float, Meta(ge=1)] = 120.0
    max_mib: Mebibytes = 0  # one that has grown beyond is replaced; 0: 1.5 times what its engine needs
    warm_start: bool = True  # load the engine at start instead of at the first message


class CosyVoice3(Section, frozen=True):
    model: str | None = None  # a prepared folder; None: models/cosyvoice3 in the state folder
    quality: Literal["exact", "balanced", "fast"] = "balanced"


class QuietHours(Section, frozen=True, rename={"start": "from", "end": "to"}):
    start: ClockTime
    end: ClockTime


class Heat(Section, frozen=True):
    """Temperatures of the processor in degrees Celsius; the defaults suit a Raspberry Pi 5."""

    warm_c: Celsius = 75.0
    hot_c: Celsius = 80.0
    critical_c: Celsius = 84.0
    back_c: Annotated[float, Meta(gt=0, le=50)] = 5.0  # so far below, the easier level is taken again


class Memory(Section, frozen=True):
    """Free memory of the device, swap not counted."""

    warm_mib: Mebibytes = 384
    hot_mib: Mebibytes = 256
    critical_mib: Mebibytes = 96
    back_mib: Annotated[int, Meta(ge=1)] = 128  # so far above, the easier level is taken again
    stall_percent: Annotated[float, Meta(gt=0, le=100)] = 10.0  # of the time all tasks wait for memory: hot


class Disk(Section, frozen=True):
    """Free space where the daemon writes."""

    prune_mib: Mebibytes = 256  # below: old files go before their time
    refuse_mib: Mebibytes = 32  # below: no new files; speech goes on


class Watch(Section, frozen=True):
    root: str = "/"  # where /sys and /proc are found
    interval_s: Annotated[float, Meta(ge=0.1, le=60)] = 5.0
    state_interval_s: Annotated[float, Meta(ge=1)] = 60.0
    sensor: Name | None = None  # the one to go by; None: the processor's hottest
    rise_s: Seconds = 5.0  # a harder level is taken once it was called for so long; critical at once
    dwell_s: Seconds = 30.0  # and an easier one
    heat: Heat = Heat()
    memory: Memory = Memory()
    disk: Disk = Disk()


class Hermes(Section, frozen=True):
    """Rhasspy's protocol, beside our own."""

    enabled: bool = False
    site_id: Name | None = None  # None: the node


class Wyoming(Section, frozen=True):
    """The server by which Home Assistant's voice assistant uses the voices."""

    enabled: bool = False
    host: Name = "127.0.0.1"
    port: Port = 10200
    zeroconf: bool = False  # tell the network of it


class Web(Section, frozen=True):
    """The page and the HTTP gateway."""

    enabled: bool = False
    host: Name = "127.0.0.1"
    port: Port = 7860
    token_file: str | None = None  # None: the systemd credential web-token, else no token
    rate_per_min: Annotated[int, Meta(ge=1, le=6000)] = 60  # requests for speech, for each client


class Config(Section, frozen=True):
    engine: Literal["auto", "builtin", "cosyvoice3"] = "auto"
    voice: Name = "auto"  # auto: the default voice of the text's language
    style: Name = "neutral"
    language: LanguageCode = "en"  # when the text does not tell
    seed: Annotated[int, Meta(ge=0, le=2**32 - 1)] = 0
    mqtt: Mqtt = Mqtt()
    homeassistant: Homeassistant = Homeassistant()
    speaker: Speaker = Speaker()
    outputs: Outputs = Outputs()
    phrases: Phrases = Phrases()
    state: State = State()
    limits: Limits = Limits()
    worker: Worker = Worker()
    cosyvoice3: CosyVoice3 = CosyVoice3()
    quiet_hours: QuietHours | None = None
    watch: Watch = Watch()
    hermes: Hermes = Hermes()
    wyoming: Wyoming = Wyoming()
    web: Web = Web()
    log_level: Literal["debug", "info", "warning", "error"] = "info"


def minutes(clock_time: str) -> int:
    """Minutes since midnight of `22:00`."""
    hours, _, rest = clock_time.partition(":")
    return int(hours) * 60 + int(rest)


def state_dir(config: Config, environment: dict[str, str]) -> Path:
    """Where the journal, the models and the settings live, as an absolute path."""
    path = config.state.path or environment.get("STATE_DIRECTORY", "").split(":")[0] or "state"
    return Path(path).expanduser().absolute()


def journal_path(state: Path) -> Path:
    return state / "journal.sqlite"


def model_dir(config: Config, state: Path) -> Path:
    """Where CosyVoice3's prepared model is, or will be."""
    if config.cosyvoice3.model is None:
        return state / "models" / "cosyvoice3"
    return Path(config.cosyvoice3.model).expanduser().absolute()


def voices_dir(state: Path) -> Path:
    """Where the enrolled voices are."""
    return state / "voices"


def outputs_dir(config: Config) -> Path:
    return Path(config.outputs.path).expanduser().absolute()


def phrases_dir(config: Config, environment: dict[str, str]) -> Path:
    cache = environment.get("CACHE_DIRECTORY", "").split(":")[0]
    fallback = Path(cache) / "phrases" if cache else state_dir(config, environment) / "phrases"
    return Path(config.phrases.path).expanduser().absolute() if config.phrases.path else fallback
