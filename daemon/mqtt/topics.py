"""The topic tree of one device: what it listens to, where it answers, and what a topic asks for."""

import re
from dataclasses import dataclass

from daemon.errors import CosyvoicedError

MAX_TOPIC_BYTES = 65535  # MQTT 3.1.1, section 1.5.3: a UTF-8 string has a two-byte length
MAX_NAME_LENGTH = 64  # our own choice: room for any host name label (63), and for the topic around it
FALLBACK_NODE = "speaker"
_RESERVED_NODES = ("all", "group")  # `<base>/all/say` and `<base>/group/<g>/say` are everybody's


class TopicError(CosyvoicedError, ValueError):
    """A name that cannot stand in a topic, or a topic that cannot be published to; the message says why."""


@dataclass(frozen=True)
class Say:
    """Say the payload; `style` when the topic names one."""

    style: str | None = None


@dataclass(frozen=True)
class Command:
    """Do `verb`; whether it exists is for the receiver to judge."""

    verb: str


@dataclass(frozen=True)
class Set:
    """Change the setting `name`; whether it exists is for the receiver to judge."""

    name: str


Asked = Say | Command | Set


@dataclass(frozen=True)
class Topics:
    """All topics of the device `node` under `base`. Raises `TopicError` for a name that MQTT cannot carry."""

    base: str
    node: str
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for level in self.base.split("/"):
            check_level("base topic", level)
        check_level("node", self.node)
        if self.node in _RESERVED_NODES:
            raise TopicError(f"the node cannot be named {self.node!r}: that name addresses other devices too")
        for group in self.groups:
            check_level("group", group)

    @property
    def subscriptions(self) -> tuple[str, ...]:
        """Every topic filter that the device listens to."""
        own = (f"{self.own}/{tail}" for tail in ("say", "say/+", "command/+", "set/+"))
        return (*own, *sorted(self._shared))

    @property
    def own(self) -> str:
        """`<n>` of the contract."""
        return f"{self.base}/{self.node}"

    @property
    def result(self) -> str:
        return f"{self.own}/result"

    @property
    def state(self) -> str:
        return f"{self.own}/state"

    @property
    def availability(self) -> str:
        return f"{self.own}/availability"

    @property
    def voices(self) -> str:
        return f"{self.own}/voices"

    @property
    def styles(self) -> str:
        return f"{self.own}/styles"

    @property
    def heartbeat(self) -> str:
        """Where the device writes to itself to see that the way through the broker is open."""
        return f"{self.own}/heartbeat"

    def settings(self, name: str) -> str:
        return f"{self.own}/settings/{name}"

    def classify(self, topic: str) -> Asked | None:
        """What a message on `topic` asks for; None when it is not for this device.

        A session that the broker kept may still deliver what an earlier configuration subscribed to.
        """
        if topic in self._shared:
            return Say()
        head, _, tail = topic.partition(f"{self.own}/")
        if head or not tail:
            return None
        match tail.split("/"):
            case ["say"]:
                return Say()
            case ["say", style] if style:
                return Say(style)
            case ["command", verb] if verb:
                return Command(verb)
            case ["set", name] if name:
                return Set(name)
        return None

    @property
    def _shared(self) -> frozenset[str]:
        groups = (f"{self.base}/group/{group}/say" for group in self.groups)
        return frozenset((*groups, f"{self.base}/all/say"))


def check_publishable(topic: str) -> None:
    """Raises `TopicError` for a topic that no message may be published to."""
    if not topic:
        raise TopicError("the topic is empty")
    if topic.startswith("$"):
        raise TopicError(f"the topic {topic[:60]!r} starts with '$', which is kept for brokers")
    for character in topic:
        if character in "+#" or not character.isprintable():
            raise TopicError(f"the topic {topic[:60]!r} holds {character!r}, which cannot be published to")
    if len(topic.encode()) > MAX_TOPIC_BYTES:
        raise TopicError(f"the topic {topic[:60]!r}... is longer than {MAX_TOPIC_BYTES} bytes")


def node_from_host(host: str) -> str:
    """A node name for the machine called `host`: its first label, with what a topic cannot carry replaced."""
    label = re.sub(r"[^\w-]+", "-", host.split(".")[0]).strip("-")[:MAX_NAME_LENGTH]
    if not label:
        return FALLBACK_NODE
    return f"{label}-{FALLBACK_NODE}" if label in _RESERVED_NODES else label


def check_level(what: str, level: str) -> None:
    """Raises `TopicError` for a name that cannot be one level of a topic."""
    if not level:
        raise TopicError(f"the {what} is empty, or has an empty level between two '/'")
    if len(level) > MAX_NAME_LENGTH:
        raise TopicError(f"the {what} {level[:20]!r}... is longer than {MAX_NAME_LENGTH} characters")
    if level.startswith("$"):
        raise TopicError(f"the {what} {level!r} starts with '$', which is kept for brokers")
    for character in level:
        if character in "+#/" or not character.isprintable():
            raise TopicError(f"the {what} {level!r} holds {character!r}, which a topic cannot carry")
