"""A vocabulary of the published form: every byte that text can hold, a few joined pairs, and fillers.

It cuts text into bytes where the real one knows words, so an announcement costs more text ids.
"""

import json
from pathlib import Path

from cosyvoice.config import LlmConfig
from cosyvoice.text.tokenizer import added_tokens

_FULL_VOCABULARY = 151643  # of Qwen2
_MERGES = (("t", "h"), ("i", "n"), ("e", "r"), ("a", "n"), ("th", "e"), ("in", "g"), ("Ġ", "the"))
_UTF8_LAST = 0xF4  # bytes above it, and 0xC0 and 0xC1, are in no UTF-8 text
_NEVER_IN_UTF8 = {0xC0, 0xC1}


def write(folder: Path, config: LlmConfig) -> None:
    """Writes the files of `CosyVoice-BlankEN` but for its weights. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    # The added tokens follow the vocabulary, and the text embedding has a row for each.
    size = min(_FULL_VOCABULARY, config.vocab - len(added_tokens()))
    tokens = [*_byte_letters(), *(left + right for left, right in _MERGES)]
    if len(tokens) > size:
        raise ValueError(f"a vocabulary of {size} is too small for the bytes of text")
    tokens += [f"filler{number}" for number in range(size - len(tokens))]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    merges = ["#version: 0.2", *(f"{left} {right}" for left, right in _MERGES)]
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join(merges) + "\n", encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(_body_config(config), indent=1))
    (folder / "tokenizer_config.json").write_text(json.dumps(_TOKENIZER_CONFIG, indent=1))


_TOKENIZER_CONFIG = {
    "tokenizer_class": "Qwen2Tokenizer",
    "add_prefix_space": False,
    "eos_token": "<|endoftext|>",
    "pad_token": "<|endoftext|>",
}


def _body_config(config: LlmConfig) -> dict[str, object]:
    return {
        "model_type": "qwen2",
        "hidden_size": config.hidden,
        "intermediate_size": config.intermediate,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "vocab_size": config.vocab,
    }


def _byte_letters() -> list[str]:
    """The bytes of printable text, as byte-level vocabularies write them.

    A byte that is a visible Latin-1 character stands for itself; the others get letters from U+0100 on, in
    order.
    """
    letters = []
    invisible = 0
    for byte in range(256):
        visible = 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or byte >= 0xAE
        letter = chr(byte) if visible else chr(0x100 + invisible)
        invisible += not visible
        if byte >= 0x20 and byte != 0x7F and byte <= _UTF8_LAST and byte not in _NEVER_IN_UTF8:
            letters.append(letter)
    return letters
