"""The published `cosyvoice3.yaml`, read as data: its tags would construct objects, here they do not."""

from pathlib import Path
from typing import NamedTuple

import yaml

from cosyvoice.config import SAMPLE_RATE_HZ
from cosyvoice.errors import ModelError

NAME = "Fun-CosyVoice3-0.5B-2512"
WHERE = f"fetch it from FunAudioLLM/{NAME} on Hugging Face or ModelScope"

RANDOM_SEED = "random_seed"  # our own key: `cosyvoiced model random` says so in the file it writes


class Description(NamedTuple):
    """What the file tells of the model."""

    random_seed: int | None = None  # of random weights, which speak nonsense


class _PlainLoader(yaml.SafeLoader):
    """Takes every tagged value as the plain mapping, list or text that it is."""


def _plain(loader: yaml.SafeLoader, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return node.value


_PlainLoader.add_constructor(None, _plain)  # of every tag that YAML itself does not define


def describe(path: Path) -> Description:
    """An absent file tells nothing.

    Raises:
        ModelError: it is damaged, or describes another model.
    """
    if not path.exists():
        return Description()
    try:
        values = yaml.load(path.read_bytes(), _PlainLoader)
    except (yaml.YAMLError, TypeError) as error:  # TypeError: an unhashable key
        raise ModelError([f"{path.name} is damaged: {WHERE}"]) from error
    if not isinstance(values, dict):
        raise ModelError([f"{path.name} is damaged: {WHERE}"])
    rate_hz = values.get("sample_rate", SAMPLE_RATE_HZ)
    if rate_hz != SAMPLE_RATE_HZ:
        fault = f"describes a model that speaks at {rate_hz} Hz, not {SAMPLE_RATE_HZ}"
        raise ModelError([f"{path.name} {fault}: {WHERE}"])
    seed = values.get(RANDOM_SEED)
    return Description(random_seed=seed if isinstance(seed, int) else None)
