"""Reads a checkpoint through small windows: whatever is read counts as memory until it is unmapped."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from cosyvoice.weights.networks import Network
from cosyvoice.weights.published import PublishedModel
from cosyvoice.weights.rules import Rule, apply

WINDOW_BYTES = 256 * 2**20


def split(published: PublishedModel, network: Network, rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """The rules in groups, each of which reads about `WINDOW_BYTES`."""
    shapes = network.published(published.config)
    group: list[Rule] = []
    read_bytes = 0
    for rule in rules:
        group.append(rule)
        read_bytes += sum(4 * torch.Size(shapes[name]).numel() for name in rule.sources)
        if read_bytes >= WINDOW_BYTES:
            yield group
            group, read_bytes = [], 0
    if group:
        yield group


def convert(
    published: PublishedModel, network: Network, rules: Sequence[Rule]
) -> Iterator[tuple[Rule, Tensor]]:
    """Each tensor of ours. One that is published as it is stays in the file, mapped as long as it is kept."""
    tensors = published.tensors(network)
    for rule in rules:
        yield rule, apply(rule, tensors)
