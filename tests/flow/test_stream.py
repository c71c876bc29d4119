"""Speech made hop by hop, on the prompt's kept past, is the speech made at once."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from cosyvoice.config import TINY
from cosyvoice.errors import GenerationError
from cosyvoice.flow.attention import CHUNK_FRAMES, CHUNKED, Attention
from cosyvoice.flow.denoise import FlowState, at_beginning, denoise, unconditional_start
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.kept import Keeping
from cosyvoice.flow.modulation import TabulatedModulations, tabulate
from cosyvoice.flow.prompt import FlowPrompt
from cosyvoice.flow.solver import Cancelled
from cosyvoice.flow.stream import FlowStream, prepare_prompt, synthesize, synthesize_as_published
from cosyvoice.quality import BALANCED, EXACT, FAST, Quality, all_times

TOLERANCE = 1e-4  # greatest absolute difference, all in float32
CLOSED_CORRELATION = 0.9999
INT8_TOLERANCE = 0.005  # with the past in int8; mels range over some 12


def masked(flow: Flow, prompt: FlowPrompt, tokens: list[int], quality: Quality) -> Tensor:
    """All frames computed at once, with nothing kept and the chunks told by a mask."""
    everything = torch.cat((prompt.tokens, torch.tensor(tokens)))
    last = 2 * len(everything)
    attention = Attention(CHUNK_FRAMES, masked=True)
    mel, _ = denoise(flow, at_beginning(prompt, quality), everything, last, attention)
    return mel[:, prompt.frames :].mT


def hop_by_hop(stream: FlowStream, tokens: list[int], hop: int) -> Iterator[Tensor]:
    for begin in range(0, len(tokens), hop):
        yield stream.extend(tokens[begin : begin + hop], final=begin + hop >= len(tokens))


@pytest.mark.parametrize("quality", [EXACT, BALANCED, FAST], ids=lambda quality: quality.name)
@pytest.mark.parametrize("hop", [7, 28, 60])
def test_hops_on_a_kept_prompt_equal_the_masked_whole(
    flow: Flow, prompt: FlowPrompt, tokens: list[int], quality: Quality, hop: int
) -> None:
    stream = FlowStream(flow, prepare_prompt(flow, prompt, quality, Keeping.FLOAT32), Keeping.FLOAT32)

    mel = torch.cat(list(hop_by_hop(stream, tokens, hop)), dim=2)

    torch.testing.assert_close(mel, masked(flow, prompt, tokens, quality), atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("prompt_tokens", [0, 1, 27, 28, 53, 75])
def test_a_prompt_of_any_length_is_continued_exactly(
    flow: Flow, prompt: FlowPrompt, tokens: list[int], prompt_tokens: int
) -> None:
    short = FlowPrompt(prompt.tokens[:prompt_tokens], prompt.mel[: 2 * prompt_tokens], prompt.embedding)
    state = prepare_prompt(flow, short, FAST, Keeping.FLOAT32)
    expected = masked(flow, short, tokens, FAST)

    mel = torch.cat(list(hop_by_hop(FlowStream(flow, state, Keeping.FLOAT32), tokens, 13)), dim=2)

    torch.testing.assert_close(mel, expected, atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(synthesize(flow, state, tokens), expected, atol=TOLERANCE, rtol=0)


def test_prompt_keeps_its_finished_chunks(flow: Flow, prompt: FlowPrompt) -> None:
    state = prepare_prompt(flow, prompt, BALANCED)
    config = TINY.flow
    frame_bytes = config.depth * 2 * (config.dim + config.heads * 4)  # keys and values in int8, and scales
    context_bytes = 2 * config.dim * 30 * 4

    assert state.past.frames == 100
    assert state.nbytes == BALANCED.half_evaluations * (100 * frame_bytes + context_bytes)


@pytest.mark.parametrize("quality", [EXACT, BALANCED, FAST], ids=lambda quality: quality.name)
def test_a_past_in_int8_hardly_moves_the_mel(
    flow: Flow, prompt: FlowPrompt, tokens: list[int], quality: Quality
) -> None:
    stream = FlowStream(flow, prepare_prompt(flow, prompt, quality))

    mel = torch.cat(list(hop_by_hop(stream, tokens, 28)), dim=2)

    expected = masked(flow, prompt, tokens, quality)
    assert not torch.equal(mel, expected)
    torch.testing.assert_close(mel, expected, atol=INT8_TOLERANCE, rtol=0)


@pytest.mark.parametrize("quality", [BALANCED, FAST], ids=lambda quality: quality.name)
def test_closing_the_prompt_hardly_moves_the_mel(
    flow: Flow, prompt: FlowPrompt, tokens: list[int], quality: Quality
) -> None:
    closed = prepare_prompt(flow, prompt, quality, Keeping.FLOAT32, closed=True)

    mel = torch.cat(list(hop_by_hop(FlowStream(flow, closed, Keeping.FLOAT32), tokens, 28)), dim=2)

    expected = masked(flow, prompt, tokens, quality)
    assert not torch.equal(mel, expected)
    both = torch.stack((mel.flatten(), expected.flatten()))
    assert torch.corrcoef(both)[0, 1] > CLOSED_CORRELATION


def test_only_whole_chunks_come_before_the_end(flow: Flow, prompt: FlowPrompt, tokens: list[int]) -> None:
    stream = FlowStream(flow, prepare_prompt(flow, prompt, FAST))

    lengths = [mel.shape[2] for mel in hop_by_hop(stream, tokens, 10)]

    assert lengths == [0, 0, 50, 0, 0, 50, 0, 60]


def test_one_prompt_serves_many_speeches(flow: Flow, prompt: FlowPrompt, tokens: list[int]) -> None:
    state = prepare_prompt(flow, prompt, FAST)
    first = synthesize(flow, state, tokens)

    synthesize(flow, state, tokens[::-1])
    list(hop_by_hop(FlowStream(flow, state), tokens[::-1], 28))

    assert torch.equal(synthesize(flow, state, tokens), first)


def test_a_prepared_network_skips_a_half_of_the_first_step(
    flow: Flow, prompt: FlowPrompt, tokens: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = prepare(flow, start_frames=310)
    rows: list[int] = []
    prepared.dit.out.register_forward_hook(lambda module, inputs, output: rows.append(len(output)))

    mel = synthesize(prepared, at_beginning(prompt, BALANCED), tokens)

    assert rows == [1, 2, 2, 1, 1, 1]
    expected = masked(flow, prompt, tokens, BALANCED)
    torch.testing.assert_close(mel, expected, atol=TOLERANCE, rtol=0)


def test_a_prepared_network_streams_on_a_kept_prompt(
    flow: Flow, prompt: FlowPrompt, tokens: list[int]
) -> None:
    prepared = prepare(flow, start_frames=310)
    stream = FlowStream(prepared, prepare_prompt(prepared, prompt, FAST, Keeping.FLOAT32), Keeping.FLOAT32)

    mel = torch.cat(list(hop_by_hop(stream, tokens, 28)), dim=2)

    torch.testing.assert_close(mel, masked(flow, prompt, tokens, FAST), atol=TOLERANCE, rtol=0)


def test_speech_longer_than_the_start_is_refused(flow: Flow, prompt: FlowPrompt, tokens: list[int]) -> None:
    prepared = prepare(flow, start_frames=300)
    with pytest.raises(GenerationError, match="310 frames of speech, prompt included: more than 300"):
        synthesize(prepared, at_beginning(prompt, FAST), tokens)


def test_exact_sees_the_whole_file_and_equals_the_published_way(
    flow: Flow, prompt: FlowPrompt, tokens: list[int]
) -> None:
    state = prepare_prompt(flow, prompt, EXACT)

    mel = synthesize(flow, state, tokens)

    assert mel.shape == (1, 80, 160)
    torch.testing.assert_close(mel, synthesize_as_published(flow, prompt, tokens), atol=TOLERANCE, rtol=0)
    assert (mel - masked(flow, prompt, tokens, EXACT)).abs().max() > 0.01


def test_cancel_leaves_the_stream_as_it_was(flow: Flow, prompt: FlowPrompt, tokens: list[int]) -> None:
    answers = iter([False, False, True])
    stream = FlowStream(flow, at_beginning(prompt, FAST), cancelled=lambda: next(answers, False))

    with pytest.raises(Cancelled):
        stream.extend(tokens, final=False)

    assert next(answers, None) is None  # asked three times, no more
    undisturbed = FlowStream(flow, at_beginning(prompt, FAST)).extend(tokens, final=True)
    assert torch.equal(stream.extend(tokens, final=True), undisturbed)


def test_a_span_sees_nothing_of_the_chunks_after_it(flow: Flow, prompt: FlowPrompt) -> None:
    state = at_beginning(prompt, FAST)
    short, _ = denoise(flow, state, prompt.tokens, 100, CHUNKED)
    long, _ = denoise(flow, state, prompt.tokens, 150, CHUNKED)
    torch.testing.assert_close(long[:, :100], short, atol=TOLERANCE, rtol=0)


def prepare(flow: Flow, start_frames: int) -> Flow:
    """The network with tables in the place of the weights that make the modulations."""
    times = all_times()
    with torch.device("meta"):
        prepared = Flow(TINY.flow, TabulatedModulations(TINY.flow, times), start_frames)
    tensors = {
        name: tensor for name, tensor in flow.state_dict().items() if not name.startswith("modulations.")
    }
    tensors["modulations.table"] = tabulate(flow.modulations, times)
    tensors["start"] = unconditional_start(flow, start_frames)
    prepared.load_state_dict(tensors, strict=True, assign=True)
    return prepared


def test_a_state_is_never_changed(flow: Flow, prompt: FlowPrompt, tokens: list[int]) -> None:
    state: FlowState = prepare_prompt(flow, prompt, FAST)
    before = [part.numbers.clone() for step in state.past.steps for part in step.parts]

    list(hop_by_hop(FlowStream(flow, state), tokens, 28))

    after = [part.numbers for step in state.past.steps for part in step.parts]
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
