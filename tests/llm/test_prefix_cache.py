import torch

from cosyvoice.llm.prefix_cache import PrefixCache


def test_an_opening_is_found_by_its_ids() -> None:
    prefixes, entries = PrefixCache(), torch.ones(1)
    prefixes.put([1, 2], entries)
    assert prefixes.get((1, 2)) is entries
    assert prefixes.get([1, 2, 3]) is None
    assert prefixes.get([]) is None


def test_the_one_unused_for_longest_goes_first() -> None:
    prefixes = PrefixCache(size=2)
    prefixes.put([1], torch.ones(1))
    prefixes.put([2], torch.ones(1))
    prefixes.get([1])
    prefixes.put([3], torch.ones(1))
    assert [prefixes.get([number]) is not None for number in (1, 2, 3)] == [True, False, True]
