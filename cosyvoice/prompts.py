"""What the language model reads before it speaks: three layouts, built here and never typed by a user."""

import re
from dataclasses import dataclass

from cosyvoice.text.cleanup import clean
from cosyvoice.text.language import HAN
from cosyvoice.text.tokenizer import END_OF_PROMPT, Tokenizer

SYSTEM_TEXT = "You are a helpful assistant."  # the model was trained with it before every prompt

_DIALECT = "请用{}表达。"
# The styles of the daemon's contract -> the sentences that the model was trained to follow, word by word.
INSTRUCTIONS: dict[str, str] = {
    "loud": "Please say a sentence as loudly as possible.",
    "soft": "Please say a sentence in a very soft voice.",
    "slow": "请用尽可能慢地语速说一句话。",
    "fast": "请用尽可能快地语速说一句话。",
    "happy": "请非常开心地说一句话。",
    "excited": "请非常开心地说一句话。",  # of the trained moods the nearest: lively and glad
    "sad": "请非常伤心地说一句话。",
    "angry": "请非常生气地说一句话。",
    "cantonese": _DIALECT.format("广东话"),
    "dongbei": _DIALECT.format("东北话"),
    "gansu": _DIALECT.format("甘肃话"),
    "guizhou": _DIALECT.format("贵州话"),
    "henan": _DIALECT.format("河南话"),
    "hubei": _DIALECT.format("湖北话"),
    "hunan": _DIALECT.format("湖南话"),
    "jiangxi": _DIALECT.format("江西话"),
    "minnan": _DIALECT.format("闽南话"),
    "ningxia": _DIALECT.format("宁夏话"),
    "shanxi": _DIALECT.format("山西话"),
    "shaanxi": _DIALECT.format("陕西话"),
    "shandong": _DIALECT.format("山东话"),
    "shanghai": _DIALECT.format("上海话"),
    "sichuan": _DIALECT.format("四川话"),
    "tianjin": _DIALECT.format("天津话"),
    "yunnan": _DIALECT.format("云南话"),
}
PLAIN_STYLES = frozenset({"", "neutral", "mandarin"})  # the voice as it was recorded

MAX_INSTRUCTION_LENGTH = 200  # characters; the longest trained one has 44, and a prompt delays each word
_LAST_WORD = re.compile(r"[^\s,;，、；]*$")
_SENTENCE_ENDS = tuple("。.！!？?…")


@dataclass(frozen=True)
class Prompt:
    """Ids in the order in which they are read: `prompt_text_ids`, then `target_text_ids`.

    prompt_text_ids: what stays the same from one announcement to the next; not spoken.
    target_text_ids: what is spoken, and nothing else: limits of length are counted in them.
    uses_prompt_speech: whether the voice's speech tokens follow.
    """

    prompt_text_ids: tuple[int, ...]
    target_text_ids: tuple[int, ...]
    uses_prompt_speech: bool


def build(tokenizer: Tokenizer, text: str, *, transcript: str = "", style: str = "neutral") -> Prompt:
    """The prompt for one piece of text, in the layout that fits.

    Args:
        tokenizer: of the model.
        text: what to say, normalised.
        transcript: what is said in the voice's prompt audio; empty where nobody knows.
        style: a name of the contract, or an instruction in natural language.
    """
    instruction = instruction_of(style)
    if instruction:
        return instruct(tokenizer, text, instruction)
    if transcript:
        return zero_shot(tokenizer, text, transcript)
    return cross_lingual(tokenizer, text)


def zero_shot(tokenizer: Tokenizer, text: str, transcript: str) -> Prompt:
    """Goes on in the voice, and the manner, of the prompt audio."""
    transcript = transcript.removeprefix(SYSTEM_TEXT + END_OF_PROMPT)  # as the official examples write it
    opening = (*tokenizer.encode_prompt(SYSTEM_TEXT), *tokenizer.encode_text(transcript))
    return Prompt(opening, tuple(tokenizer.encode_text(text)), uses_prompt_speech=True)


def cross_lingual(tokenizer: Tokenizer, text: str) -> Prompt:
    """Speaks in the manner of the text's language; the voice comes from the flow alone."""
    opening = tuple(tokenizer.encode_prompt(SYSTEM_TEXT))
    return Prompt(opening, tuple(tokenizer.encode_text(text)), uses_prompt_speech=False)


def instruct(tokenizer: Tokenizer, text: str, instruction: str) -> Prompt:
    """Speaks as a sentence of `instruction_of` says; the voice comes from the flow alone."""
    opening = tuple(tokenizer.encode_prompt(f"{SYSTEM_TEXT} {instruction}"))
    return Prompt(opening, tuple(tokenizer.encode_text(text)), uses_prompt_speech=False)


def instruction_of(style: str) -> str | None:
    """The instruction for a style: a trained one, or the user's sentence in one clean line; None for none."""
    if style in PLAIN_STYLES:
        return None
    return INSTRUCTIONS.get(style) or _clean_instruction(style)


def _clean_instruction(sentence: str) -> str | None:
    sentence = clean(sentence)
    while sentence.startswith(SYSTEM_TEXT):
        sentence = sentence.removeprefix(SYSTEM_TEXT).lstrip()
    if len(sentence) > MAX_INSTRUCTION_LENGTH:
        cut = sentence[:MAX_INSTRUCTION_LENGTH]
        sentence = _LAST_WORD.sub("", cut).rstrip(" ,;，、；") or cut
    if not sentence or sentence.endswith(_SENTENCE_ENDS):
        return sentence or None
    return sentence + ("。" if HAN.search(sentence) else ".")
