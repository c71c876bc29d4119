"""Text to ids: Qwen2's byte-level BPE, and the tokens that CosyVoice3 adds to it."""

import re
from collections.abc import Iterable
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, models, normalizers, pre_tokenizers

from cosyvoice.errors import ModelError
from cosyvoice.text.inventory import ARPABET, FINALS, INITIALS

VOCABULARY_FILE, MERGES_FILE = "vocab.json", "merges.txt"

END_OF_PROMPT = "<|endofprompt|>"
CONTROL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", END_OF_PROMPT, "<|endofsystem|>")

_SOUNDS = """
    [breath] <strong> </strong> [noise] [laughter] [cough] [clucking] [accent] [quick_breath]
    <laughter> </laughter> [hissing] [sigh] [vocalized-noise] [lipsmack] [mn]
"""

# Qwen2 cuts text so before it merges bytes: English contractions; words with the space or sign before them;
# single digits; runs of signs with the line breaks after them; line breaks; white space, whose last space
# stays with the word after it. Written as in the published tokenizer, since the ids hang on each branch.
_PIECE = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CONTROL = re.compile("|".join(map(re.escape, CONTROL_TOKENS)))


def added_tokens() -> list[str]:
    """The tokens after the BPE's own, in the order of their ids; sounds and phonemes stand in brackets."""
    phonemes = (f"[{name}]" for names in (ARPABET, INITIALS | FINALS) for name in sorted(names))
    return [*CONTROL_TOKENS[:-1], *_SOUNDS.split(), CONTROL_TOKENS[-1], *phonemes]


class Tokenizer:
    """Encodes what is to be said, and what we put before it."""

    def __init__(self, encoder: tokenizers.Tokenizer) -> None:
        self._encoder = encoder

    @property
    def size(self) -> int:
        """All ids are below this."""
        return self._encoder.get_vocab_size(with_added_tokens=True)

    def encode_text(self, text: str) -> list[int]:
        """Ids of a user's text: sounds and phonemes are tokens, control tokens are taken for white space."""
        # White space in their place, since its two sides could otherwise join to another control token.
        ids: list[int] = self._encoder.encode(_CONTROL.sub(" ", text), add_special_tokens=False).ids
        return ids

    def encode_prompt(self, text: str) -> list[int]:
        """Ids of a text that tells the model what to do, closed by the control token for it."""
        return [*self.encode_text(text), *self._encoder.encode(END_OF_PROMPT, add_special_tokens=False).ids]


def load(folder: Path) -> Tokenizer:
    """Reads `vocab.json` and `merges.txt`, 0.3 s at the published size.

    Raises:
        ModelError: a file is missing or damaged.
    """
    files = [folder / VOCABULARY_FILE, folder / MERGES_FILE]
    if missing := [f"{file} is missing." for file in files if not file.is_file()]:
        raise ModelError(missing)
    try:
        bpe = models.BPE.from_file(*map(str, files))
    except Exception as error:  # the library raises nothing narrower
        raise ModelError([f"{folder}: the tokenizer's files cannot be read: {error}"]) from error
    return Tokenizer(_encoder(bpe, added_tokens()))


def _encoder(bpe: models.BPE, added: Iterable[str]) -> tokenizers.Tokenizer:
    encoder = tokenizers.Tokenizer(bpe)
    encoder.normalizer = normalizers.NFC()
    encoder.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECE), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    encoder.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in added])
    return encoder
