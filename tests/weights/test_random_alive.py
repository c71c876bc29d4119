"""Random weights speak nonsense, and speak: no part of the network vanishes, explodes or never ends."""

from pathlib import Path

import torch
from torch import Tensor

from cosyvoice import quality
from cosyvoice.config import TINY
from cosyvoice.errors import GenerationError
from cosyvoice.flow import stream
from cosyvoice.flow.denoise import at_beginning
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.modulation import ComputedModulations
from cosyvoice.flow.prompt import FlowPrompt
from cosyvoice.llm.generate import generate
from cosyvoice.llm.speech_lm import SpeechLm
from cosyvoice.llm.text_embedding import FloatTextEmbedding
from cosyvoice.llm.weights import TEXT_EMBEDDING
from cosyvoice.prompts import Prompt
from cosyvoice.vocoder.hift import Vocoder
from cosyvoice.vocoder.stream import VocoderStream
from cosyvoice.weights.networks import FLOW, LLM, VOCODER, Network
from cosyvoice.weights.published import open_folder
from cosyvoice.weights.rules import convert

PROMPT = FlowPrompt(torch.arange(30), torch.full((60, 80), -6.0), torch.linspace(-1, 1, 192))


def state(folder: Path, network: Network) -> dict[str, Tensor]:
    return convert(open_folder(folder, enrolment=False).tensors(network), network.rules(TINY))


def test_most_texts_come_to_an_end_and_no_two_seeds_say_the_same(tiny_published: Path) -> None:
    tensors = state(tiny_published, LLM)
    lm = SpeechLm(TINY.llm, FloatTextEmbedding(tensors.pop(TEXT_EMBEDDING)))
    lm.load_state_dict(tensors)
    prompt = Prompt(tuple(range(20)), tuple(range(30, 45)), uses_prompt_speech=True)
    spoken = []
    for seed in range(8):
        try:
            spoken.append(list(generate(lm, prompt, range(100, 140), seed=seed)))
        except GenerationError:
            continue
    assert len(spoken) >= 6
    assert all(len(set(tokens)) > len(tokens) / 2 for tokens in spoken)
    assert len({tuple(tokens) for tokens in spoken}) == len(spoken)


def test_the_mel_has_the_level_of_speech_and_follows_the_tokens(tiny_published: Path) -> None:
    flow = Flow(TINY.flow, ComputedModulations(TINY.flow))
    flow.load_state_dict(state(tiny_published, FLOW))
    with torch.inference_mode():
        state_ = at_beginning(PROMPT, quality.FAST)
        one, other = (
            stream.synthesize(flow, state_, list(tokens)) for tokens in (range(500, 540), range(900, 940))
        )
    assert -8 < one.mean() < -4
    assert 0.5 < one.std() < 4
    correlation = torch.corrcoef(torch.stack([one.flatten(), other.flatten()]))[0, 1]
    assert correlation < 0.95


def test_the_vocoder_sounds_moderate_at_a_human_pitch(tiny_published: Path) -> None:
    vocoder = Vocoder(TINY.vocoder)
    vocoder.load_state_dict(state(tiny_published, VOCODER))
    mel = torch.randn(1, 80, 50, generator=torch.Generator().manual_seed(0)) * 1.5 - 6
    with torch.inference_mode():
        pitch_hz = vocoder.f0(mel[0].T, {})
        samples = VocoderStream(vocoder).extend(mel, final=True)
    assert pitch_hz.min() > 60
    assert pitch_hz.max() < 500
    assert 0.01 < samples.square().mean().sqrt() < 0.4
    assert (samples.abs() > 0.98).float().mean() < 0.01
