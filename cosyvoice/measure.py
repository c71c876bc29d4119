"""Measures a model in a process of its own, and prints JSON: `python -m cosyvoice.measure int8 FOLDER MELS`.

`int8` takes a prepared folder; `float32` a published one, which it runs as its publishers do. The speech is
as long as it is asked to be, whatever it would say: random weights cost the same time as trained ones.
"""

import argparse
import json
import resource
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from cosyvoice import model, prompts, reference
from cosyvoice.config import (
    MEL_BINS,
    MEL_FRAMES_PER_TOKEN,
    SAMPLE_RATE_HZ,
    SPEAKER_DIM,
    SPEECH_CODEBOOK,
    SPEECH_TOKENS_PER_S,
)
from cosyvoice.engine import CosyVoice, StageTimes, Utterance, Voice, reusable
from cosyvoice.flow import stream
from cosyvoice.flow.denoise import at_beginning
from cosyvoice.flow.prompt import FlowPrompt
from cosyvoice.llm.generate import Limits, generate
from cosyvoice.model import Model
from cosyvoice.quality import QUALITIES, Quality
from cosyvoice.vocoder.stream import VocoderStream
from cosyvoice.voices import features, speaker
from cosyvoice.voices.speaker import SpeakerEncoder

SPEECH_S, PROMPT_S = 4.0, 3.0
# As many bytes as sentences of that length have ids, since the tokenizer of random weights reads bytes.
TEXT, TRANSCRIPT = "Tea is ready.", "Good morning."


@dataclass(frozen=True)
class Spoken:
    """Seconds of work for a second of speech, in all and by stage."""

    rtf: float
    llm: float
    flow: float
    vocoder: float


def int8(folder: Path, mels: Path, threads: int, runs: int) -> dict[str, object]:
    """Each preset's speed, first sound and memory so far; leaves its mel in `mels`."""
    began_s = time.perf_counter()
    loaded = model.load(folder, threads, lambda line: print(line, file=sys.stderr))
    model.settle()
    found: dict[str, object] = {"load_s": time.perf_counter() - began_s}
    voice = a_voice()
    for preset in sorted(QUALITIES.values(), key=lambda preset: preset.half_evaluations):
        speaking = CosyVoice(loaded, preset)
        speak(speaking, voice)  # computes the voice's prompt, and whatever else a first run prepares
        spoken = [speak(speaking, voice) for _ in range(runs)]
        found[preset.name] = asdict(sorted(spoken, key=lambda run: run.rtf)[runs // 2])
        if not preset.whole_attention:
            found[f"{preset.name}_first_sound_s"] = statistics.median(
                first_sound_s(speaking, voice) for _ in range(runs)
            )
        found[f"{preset.name}_peak_rss_bytes"] = peak_rss_bytes()
        leave(loaded, preset, speaker.load(folder), mels / f"int8-{preset.name}.pt")
    return found


def float32(folder: Path, mels: Path) -> dict[str, object]:
    """The yardstick's speed and memory; leaves each preset's mel in `mels`."""
    loaded = reference.load(folder)
    found: dict[str, object] = {"as_published": asdict(speak_as_published(loaded))}
    found["peak_rss_bytes"] = peak_rss_bytes()
    for preset in QUALITIES.values():
        leave(loaded, preset, speaker.load(folder), mels / f"float32-{preset.name}.pt")
    return found


def a_voice() -> Voice:
    """A made-up prompt with the level and the spread of a speech mel; always the same."""
    generator = torch.Generator().manual_seed(1)
    count = round(PROMPT_S * SPEECH_TOKENS_PER_S)
    tokens = torch.randint(SPEECH_CODEBOOK, (count,), generator=generator)
    mel = torch.randn(MEL_FRAMES_PER_TOKEN * count, MEL_BINS, generator=generator) * 1.5 - 6
    return Voice(
        "made-up", TRANSCRIPT, FlowPrompt(tokens, mel, torch.randn(SPEAKER_DIM, generator=generator))
    )


def speak(speaking: CosyVoice, voice: Voice) -> Spoken:
    """Speaks for `SPEECH_S` seconds."""
    speaking.times = StageTimes()
    for _ in speaking.speak(_utterance(), voice):
        pass
    return _spoken(speaking.times)


def first_sound_s(speaking: CosyVoice, voice: Voice) -> float:
    """Seconds from the request to the first samples."""
    began_s = time.perf_counter()
    samples = speaking.speak(_utterance(), voice)
    next(samples)
    return time.perf_counter() - began_s


def speak_as_published(loaded: Model) -> Spoken:
    """One stage after the other: all steps guided, modulations made in each, attention with a mask."""
    voice, times = a_voice(), StageTimes()
    prompt = prompts.build(loaded.tokenizer, TEXT, transcript=TRANSCRIPT)
    with _clock(times, "llm_s"):
        tokens = list(generate(loaded.llm, prompt, voice.speech_tokens, seed=0, limits=_limits()))
    with _clock(times, "flow_s"):
        mel = stream.synthesize_as_published(loaded.flow, voice.prompt, tokens)
    with _clock(times, "vocoder_s"):
        samples = VocoderStream(loaded.vocoder).extend(mel, final=True)
    times.speech_s = samples.shape[-1] / SAMPLE_RATE_HZ
    return _spoken(times)


def leave(loaded: Model, preset: Quality, encoder: SpeakerEncoder, path: Path) -> None:
    """Writes a preset's mel, and the speaker whom the encoder hears in its sound."""
    mel = some_mel(loaded, preset)
    sound = VocoderStream(loaded.vocoder).extend(mel, final=True)[0]
    heard = features.fbank80(features.resample(sound, SAMPLE_RATE_HZ, features.FEATURE_RATE_HZ))
    torch.save({"mel": mel, "speaker": torch.from_numpy(encoder.embed(heard.numpy()))}, path)


@torch.inference_mode()
def some_mel(loaded: Model, preset: Quality) -> Tensor:
    """The mel (1, 80, T) that a preset makes of the same tokens and noise, whatever the model."""
    generator = torch.Generator().manual_seed(2)
    tokens = torch.randint(SPEECH_CODEBOOK, (_limits().max_tokens,), generator=generator).tolist()
    prompt = a_voice().prompt
    if preset.whole_attention:
        return stream.synthesize(loaded.flow, at_beginning(prompt, preset), tokens)
    state = stream.prepare_prompt(loaded.flow, reusable(prompt), preset, closed=True)
    return stream.synthesize(loaded.flow, state, tokens)


def compare(mels: Path) -> dict[str, dict[str, float]]:
    """For each preset: how far it is from `exact` in float32, and how far int8 is from float32 in it."""
    exact, exact_speaker = _left(mels / "float32-exact.pt")
    found = {}
    for name in QUALITIES:
        plain, heard = _left(mels / f"float32-{name}.pt")
        quantized, _ = _left(mels / f"int8-{name}.pt")
        found[name] = {
            "correlation_to_exact": correlation(plain, exact),
            "loudness_to_exact_db": loudness_db(plain) - loudness_db(exact),
            "speaker_to_exact": cosine(heard, exact_speaker),
            "int8_cosine": cosine(quantized, plain),
            "int8_correlation": correlation(quantized, plain),
        }
    return found


def correlation(a: Tensor, b: Tensor) -> float:
    """The cosine without what is common to all log-mels: a mean far from zero."""
    return cosine(a - a.mean(), b - b.mean())


def cosine(a: Tensor, b: Tensor) -> float:
    a, b = a.double().flatten(), b.double().flatten()
    return float(a @ b / (a.norm() * b.norm()))


def loudness_db(mel: Tensor) -> float:
    """Mean power of a log-mel, which is of magnitudes."""
    return float(10 * torch.log10((2 * mel.double()).exp().mean()))


def peak_rss_bytes() -> int:
    """The most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _left(path: Path) -> tuple[Tensor, Tensor]:
    found = torch.load(path, weights_only=True)
    return found["mel"], found["speaker"]


def _utterance() -> Utterance:
    return Utterance(TEXT, "en", limits=_limits())


def _limits() -> Limits:
    tokens = round(SPEECH_S * SPEECH_TOKENS_PER_S)
    return Limits(tokens, tokens, guarded=False)


@contextmanager
def _clock(times: StageTimes, stage: str) -> Iterator[None]:
    began_s = time.perf_counter()
    with torch.inference_mode():
        yield
    setattr(times, stage, time.perf_counter() - began_s)


def _spoken(times: StageTimes) -> Spoken:
    stages = (times.llm_s, times.flow_s, times.vocoder_s)
    return Spoken(times.rtf, *(seconds / times.speech_s for seconds in stages))


def main() -> None:
    parser = argparse.ArgumentParser(prog="cosyvoice.measure", description=__doc__)
    parser.add_argument("kind", choices=["int8", "float32"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("mels", type=Path, help="an existing folder; takes each preset's mel")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.kind == "int8":
        found = int8(options.folder, options.mels, options.threads, options.runs)
    else:
        found = float32(options.folder, options.mels)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
