"""The message by which Home Assistant learns of the device: one for all its entities. Pure functions.

What Home Assistant does not know at the top of the message makes it refuse all of it, and inside an entity
it is passed over: so what only newer versions know (`def_ent_id`) stands in the entities.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from daemon import __version__
from daemon.homeassistant.entities import entities
from daemon.mqtt.topics import TopicError, Topics, check_level

PRODUCT = "cosyvoiced"
_SPELT_ALIKE = re.compile(r"[A-Za-z0-9 ._-]+")  # Home Assistant transliterates other names by itself


def check_prefix(prefix: str, base_topic: str) -> None:
    """Raises `TopicError` for a discovery prefix that cannot be used."""
    for level in prefix.split("/"):
        check_level("prefix", level)
    if prefix == base_topic:
        raise TopicError(f"{prefix!r} is the base topic; Home Assistant needs one of its own")


def topic(prefix: str, node: str) -> str:
    """Where the message stays, retained; an empty one takes the device away again."""
    return f"{prefix}/device/{device_id(node)}/config"


def birth_topic(prefix: str) -> str:
    """Where Home Assistant says `online` when it has started."""
    return f"{prefix}/status"


def device_id(node: str) -> str:
    """What the device is known by: ASCII letters, digits, `_` and `-`, and another for every node."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", node)
    if plain != node:
        plain = f"{plain.strip('_')}_{hashlib.sha256(node.encode()).hexdigest()[:8]}".lstrip("_")
    return f"{PRODUCT}_{plain}"


def message(topics: Topics, voices: Iterable[str], max_text_length: int, language: str) -> dict[str, Any]:
    """The discovery message of a device.

    Args:
        voices: the names that can be chosen, besides `auto`.
        language: of the test button's sentence, an ISO 639-1 code.
    """
    own_id = device_id(topics.node)
    return {
        "dev": {
            "ids": [own_id],
            "name": topics.node,
            "mf": PRODUCT,
            "mdl": "Voice announcements",
            "sw": __version__,
        },
        "o": {"name": PRODUCT, "sw": __version__},
        "avty": [{"t": topics.availability}],
        "cmps": {
            key: entity | {"uniq_id": f"{own_id}_{key}"} | _entity_id(topics.node, key, entity["p"])
            for key, entity in entities(topics, voices, max_text_length, language).items()
        },
    }


def _entity_id(node: str, key: str, platform: str) -> dict[str, str]:
    """The entity id to take, as Home Assistant would make it of an English name."""
    if not _SPELT_ALIKE.fullmatch(node):
        return {}
    slug = re.sub(r"[^a-z0-9]+", "_", node.lower()).strip("_")
    name = key.removeprefix(f"{platform}_")
    return {"def_ent_id": f"{platform}.{slug}_{name}" if slug else f"{platform}.{name}"}
