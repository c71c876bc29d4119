"""Tables of units, as both languages' number readers need them."""

import re
from collections.abc import Iterable, Mapping


def with_spellings(units: Mapping[str, str], spellings: Mapping[str, str]) -> dict[str, str]:
    """Names of units by all their spellings; `spellings` maps another spelling to the standard one."""
    table = dict(units)
    for spelling, standard in spellings.items():
        for unit, name in list(table.items()):
            table.setdefault(unit.replace(standard, spelling), name)
    return table


def any_of(units: Iterable[str]) -> str:
    """A pattern for any of the units, the longest first."""
    return "|".join(map(re.escape, sorted(units, key=len, reverse=True)))
