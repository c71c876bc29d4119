"""The toy checkpoint gives what the official modules gave, in float32 on a CPU."""

import pytest
import torch

from cosyvoice.config import TINY
from cosyvoice.flow.attention import CHUNK_FRAMES, Attention
from cosyvoice.flow.denoise import at_beginning, denoise
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.noise import published_noise
from cosyvoice.flow.past import BEGINNING
from cosyvoice.quality import EXACT
from tests.flow.conftest import load_golden, prompt_of

TOLERANCE = 1e-4  # greatest absolute difference


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_mel_is_that_of_the_official_modules(flow: Flow, stream: bool, final: bool, masked: bool) -> None:
    golden = load_golden(stream, final)
    prompt = prompt_of(golden)
    tokens = torch.cat((golden["prompt_token"], golden["token"]), dim=1)[0]
    noise = golden["noise"].mT
    attention = Attention(CHUNK_FRAMES if stream else None, masked)

    mel, _ = denoise(flow, at_beginning(prompt, EXACT), tokens, noise.shape[1], attention, noise=noise)

    torch.testing.assert_close(mel[:, prompt.frames :].mT, golden["mel"], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_velocity_of_the_fourth_step_is_that_of_the_official_estimator(
    flow: Flow, stream: bool, final: bool
) -> None:
    golden = load_golden(stream, final)
    speaker = golden["est_spks"][:, None].expand(-1, golden["est_x"].shape[2], -1)
    given = flow.dit.given(torch.cat((golden["est_cond"].mT, golden["est_mu"].mT, speaker), dim=-1))

    velocity, _ = flow.dit(
        golden["est_x"].mT,
        given,
        flow.modulations.at(float(golden["est_t"][0])),
        Attention(CHUNK_FRAMES if stream else None),
        BEGINNING,
    )

    torch.testing.assert_close(velocity.mT, golden["est_out"], atol=TOLERANCE, rtol=0)


def test_conditions_are_those_that_the_official_estimator_got(flow: Flow) -> None:
    golden = load_golden(stream=False, final=True)
    tokens = torch.cat((golden["prompt_token"], golden["token"]), dim=1)[0]
    frames = golden["est_mu"].shape[2]
    speaker = golden["est_spks"][:, None].expand(-1, frames, -1)
    expected = flow.dit.given(torch.cat((golden["est_cond"].mT, golden["est_mu"].mT, speaker), dim=-1))

    given = flow.given(prompt_of(golden), tokens, 0, frames)

    assert given.shape == (2, frames, TINY.flow.dim)
    torch.testing.assert_close(given, expected, atol=TOLERANCE, rtol=0)


def test_noise_is_the_published_one_and_leaves_the_shared_generator_alone() -> None:
    noise = load_golden(stream=False, final=True)["noise"]
    published_noise.cache_clear()
    before = torch.get_rng_state()

    assert torch.equal(published_noise()[:, : noise.shape[2]].mT, noise)
    assert torch.equal(torch.get_rng_state(), before)


def test_times_of_exact_are_the_published_ones() -> None:
    published = load_golden(stream=False, final=True)["t_all"]
    torch.testing.assert_close(torch.tensor(EXACT.times), published, atol=1e-6, rtol=0)
