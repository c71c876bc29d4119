"""Which names a voice may have: one rule, so that a name is always a safe file name too."""

import re
import unicodedata
from collections.abc import Collection

from cosyvoice.errors import VoiceError

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"  # Unified Ideographs and Extension A: what family names are written with
_NAME = re.compile(rf"[a-z0-9{_HAN}][a-z0-9_{_HAN}-]{{0,31}}")


def checked(name: str, reserved: Collection[str] = ()) -> str:
    """The name as it is stored: composed (NFC) and in small letters.

    The rule leaves no way to spell a path, a hidden file, an option or a control character.

    Raises:
        VoiceError: it breaks the rule, or is one of the `reserved` names, which are in small letters.
    """
    stored = unicodedata.normalize("NFC", name).lower()
    if not _NAME.fullmatch(stored):
        raise VoiceError(
            [
                f"{name[:40]!r} cannot be a voice's name: use 1 to 32 of a-z, 0-9, - and _ or Chinese"
                " characters, and begin with a letter or digit"
            ]
        )
    if stored in reserved:
        raise VoiceError([f"the name '{stored}' is taken by a built-in voice, a style or an option"])
    return stored
