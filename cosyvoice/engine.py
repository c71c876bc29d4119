"""Text and a voice in, a waveform out: the whole pipeline, top-down. Read this first.

text -> pieces -> prompt -> LLM: 25 speech tokens/s -> flow: 50 mel frames/s -> vocoder: 24 000 samples/s
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor

from cosyvoice import prompts
from cosyvoice.config import SAMPLE_RATE_HZ, SPEECH_TOKENS_PER_S
from cosyvoice.errors import GenerationError
from cosyvoice.flow import stream as flow_stream
from cosyvoice.flow.denoise import FlowState, at_beginning
from cosyvoice.flow.prompt import FlowPrompt, fitted
from cosyvoice.flow.solver import Cancelled
from cosyvoice.flow.stream import FlowStream
from cosyvoice.llm.generate import Limits, generate
from cosyvoice.llm.prefix_cache import PrefixCache
from cosyvoice.model import Model
from cosyvoice.prompts import Prompt
from cosyvoice.quality import Quality
from cosyvoice.text.normalize import normalize
from cosyvoice.text.split import split
from cosyvoice.vocoder.stream import VocoderStream

log = logging.getLogger(__name__)

# A piece is read in one breath. Its length bounds the memory of the flow, 18 MB for each second of speech; a
# Mandarin character takes a quarter of a second.
MAX_PIECE_CHARS = {"zh": 36, "ja": 36, "ko": 36}
MAX_PIECE_CHARS_OF_OTHERS = 110

MIN_PROMPT_TOKENS = 3 * SPEECH_TOKENS_PER_S  # less of a voice is not cut for speed

ATTEMPTS = 2  # one retry, with the next seed
_PIECE_STRIDE = 1_000_003  # between the seeds of an announcement's pieces: far from any retry's


@dataclass(frozen=True)
class Voice:
    """A voice as the networks need it."""

    name: str
    transcript: str  # what is said in the prompt; empty where nobody knows
    prompt: FlowPrompt

    @property
    def speech_tokens(self) -> list[int]:
        tokens: list[int] = self.prompt.tokens.tolist()
        return tokens


@dataclass(frozen=True)
class Utterance:
    """What to say and how."""

    text: str  # cleaned; its numbers are read out here
    language: str  # ISO 639-1
    style: str = "neutral"  # a preset's name or an instruction
    seed: int = 0
    speed: float = 1.0
    limits: Limits | None = None  # of speech tokens; None: the usual ones for the text


@dataclass
class StageTimes:
    """Seconds of work by stage, and of speech, so far."""

    llm_s: float = 0.0
    flow_s: float = 0.0
    vocoder_s: float = 0.0
    speech_s: float = 0.0

    @property
    def rtf(self) -> float:
        return (self.llm_s + self.flow_s + self.vocoder_s) / self.speech_s if self.speech_s else 0.0


@dataclass
class _VoiceAtHand:
    """The voice that spoke last, with what was computed of its prompt."""

    voice: Voice
    state: FlowState


@dataclass
class CosyVoice:
    """Speaks one utterance after the other; what one leaves behind makes the next faster, never different."""

    model: Model
    quality: Quality
    times: StageTimes = field(default_factory=StageTimes)
    _prefixes: PrefixCache = field(default_factory=PrefixCache)
    _at_hand: _VoiceAtHand | None = None

    def speak(
        self, utterance: Utterance, voice: Voice, cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[Tensor]:
        """Yields (N,) float32 samples in order, -0.99 to 0.99, each as soon as it is made.

        Equal utterances and voices give equal samples on one machine. Once `cancelled()`, it ends early.

        Raises:
            AnnotationError: the text holds a bracket that is no annotation.
            GenerationError: the text holds nothing to say, or two attempts at it went wrong.
        """
        pieces = pieces_of(utterance.text, utterance.language)
        if not pieces:
            raise GenerationError("the text holds nothing that can be said")
        try:
            for number, piece in enumerate(pieces):
                prompt = prompts.build(
                    self.model.tokenizer, piece, transcript=voice.transcript, style=utterance.style
                )
                seed = utterance.seed + number * _PIECE_STRIDE
                yield from self._speak_piece(prompt, seed, utterance, voice, cancelled)
        except Cancelled:
            return

    def _speak_piece(
        self, prompt: Prompt, seed: int, utterance: Utterance, voice: Voice, cancelled: Callable[[], bool]
    ) -> Iterator[Tensor]:
        for attempt in range(ATTEMPTS):
            heard = False
            tokens = self._generate(prompt, seed + attempt, utterance.limits, voice, cancelled)
            try:
                for samples in self._sound(tokens, voice, utterance.speed, cancelled):
                    heard = True
                    yield samples
            except GenerationError as error:
                if heard or attempt == ATTEMPTS - 1:
                    raise
                log.warning("once more with the next seed: %s", error)
            else:
                return

    def _generate(
        self,
        prompt: Prompt,
        seed: int,
        limits: Limits | None,
        voice: Voice,
        cancelled: Callable[[], bool],
    ) -> Iterator[int]:
        tokens = generate(
            self.model.llm,
            prompt,
            voice.speech_tokens,
            seed=seed,
            limits=limits,
            prefixes=self._prefixes,
            cancelled=cancelled,
        )
        while True:
            began_s = time.perf_counter()
            token = next(tokens, None)
            self.times.llm_s += time.perf_counter() - began_s
            if cancelled():
                raise Cancelled
            if token is None:
                return
            yield token

    def _sound(
        self, tokens: Iterator[int], voice: Voice, speed: float, cancelled: Callable[[], bool]
    ) -> Iterator[Tensor]:
        vocoder = VocoderStream(self.model.vocoder)
        for mel, final in self._mels(tokens, voice, speed, cancelled):
            began_s = time.perf_counter()
            with torch.inference_mode():
                samples = vocoder.extend(mel, final)[0]
            self.times.vocoder_s += time.perf_counter() - began_s
            self.times.speech_s += len(samples) / SAMPLE_RATE_HZ
            if len(samples):
                yield samples

    def _mels(
        self, tokens: Iterator[int], voice: Voice, speed: float, cancelled: Callable[[], bool]
    ) -> Iterator[tuple[Tensor, bool]]:
        """(1, 80, T) log-mel, and whether it is the last: in chunks of a second, or all at once."""
        if speed != 1.0 or self.quality.whole_attention:
            whole = list(tokens)
            with self._counting_flow():
                state = self._state_of(voice)
                mel = flow_stream.synthesize(self.model.flow, state, whole, cancelled)
            yield stretch(mel, speed), True
            return
        with self._counting_flow():
            stream = FlowStream(self.model.flow, self._state_of(voice), cancelled=cancelled)
        for token in tokens:
            with self._counting_flow():
                mel = stream.extend([token], final=False)
            if mel.shape[-1]:
                yield mel, False
        with self._counting_flow():
            mel = stream.extend([], final=True)
        yield mel, True

    def _state_of(self, voice: Voice) -> FlowState:
        """The voice's prompt, computed once for as long as this voice goes on speaking."""
        if self.quality.whole_attention:
            return at_beginning(voice.prompt, self.quality)
        if self._at_hand is None or self._at_hand.voice is not voice:
            self._at_hand = None  # its memory is given back before the next voice's is taken
            self._at_hand = _VoiceAtHand(
                voice,
                flow_stream.prepare_prompt(
                    self.model.flow, reusable(voice.prompt), self.quality, closed=True
                ),
            )
        return self._at_hand.state

    @contextmanager
    def _counting_flow(self) -> Iterator[None]:
        began_s = time.perf_counter()
        with torch.inference_mode():
            yield
        self.times.flow_s += time.perf_counter() - began_s


def reusable(prompt: FlowPrompt) -> FlowPrompt:
    """The prompt for the flow, cut where nearly all of it is computed once, where enough of it is left."""
    shorter = fitted(prompt)
    return shorter if len(shorter.tokens) >= MIN_PROMPT_TOKENS else prompt


def pieces_of(text: str, language: str) -> list[str]:
    """The text as it is read aloud, in pieces that are spoken one by one. Raises `AnnotationError`."""
    limit = MAX_PIECE_CHARS.get(language, MAX_PIECE_CHARS_OF_OTHERS)
    return [piece for piece in split(normalize(text, language), limit) if is_sayable(piece)]


def is_sayable(text: str) -> bool:
    """Whether anything in it makes a sound: a letter, a digit or an annotation."""
    return any(character.isalnum() for character in text)


def stretch(mel: Tensor, speed: float) -> Tensor:
    """The mel (1, 80, T) of speech that is `speed` times as fast, pitch unchanged: (1, 80, T / speed)."""
    if speed == 1.0:
        return mel
    frames = max(1, round(mel.shape[-1] / speed))
    return F.interpolate(mel, size=frames, mode="linear")
