"""Keys and values of texts that open a prompt, kept from one announcement to the next."""

from collections import OrderedDict
from collections.abc import Sequence

from torch import Tensor


class PrefixCache:
    """The last few openings that one model has read, by their text ids; 1 MB for 40 ids as published."""

    def __init__(self, size: int = 4) -> None:
        """`size`: a household uses one or two voices, and now and then a style."""
        self._size = size
        self._entries: OrderedDict[tuple[int, ...], Tensor] = OrderedDict()

    def get(self, prompt_text_ids: Sequence[int]) -> Tensor | None:
        """What was put for these ids, which count as used now."""
        key = tuple(prompt_text_ids)
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def put(self, prompt_text_ids: Sequence[int], entries: Tensor) -> None:
        """Keeps `entries` of `KvCache.copy`; the ones unused for longest go."""
        key = tuple(prompt_text_ids)
        self._entries[key] = entries
        self._entries.move_to_end(key)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)
