"""Keys and values come back as they were kept, in float32 exactly and in int8 to half a step."""

import torch
from torch import Tensor

from cosyvoice.config import FULL
from cosyvoice.flow.kept import Keeping, KeptFrames, room

DEPTH, BATCH, FRAMES, HEADS, HEAD_DIM = 2, 2, 3, 4, 16


def some(factor: float) -> Tensor:
    """A block's keys and values, (2, B, T, dim), in heads and frames that differ by orders of magnitude."""
    generator = torch.Generator().manual_seed(3)
    by_head = torch.randn(2, BATCH, FRAMES, HEADS, HEAD_DIM, generator=generator) * factor
    by_head *= torch.logspace(-2, 2, HEADS)[:, None]
    by_head *= torch.logspace(0, 1, FRAMES)[:, None, None]
    return by_head.flatten(-2)


def kept(keeping: Keeping, *blocks: Tensor) -> KeptFrames:
    frames = room(keeping, DEPTH, BATCH, FRAMES, HEADS, HEAD_DIM)
    for block, (k, v) in enumerate(blocks):
        frames.write(block, k, v)
    return frames


def read(frames: KeptFrames, block: int) -> Tensor:
    """Out of a longer buffer, as the DiT reads it."""
    buffer = torch.full((2, BATCH, FRAMES + 2, HEADS * HEAD_DIM), torch.nan)
    frames.read(block, buffer[:, :, 1:-1])
    assert buffer[:, :, 0].isnan().all()
    assert buffer[:, :, -1].isnan().all()
    return buffer[:, :, 1:-1]


def test_float32_gives_back_what_was_kept() -> None:
    blocks = some(1), some(5)
    frames = kept(Keeping.FLOAT32, *blocks)

    for block, expected in enumerate(blocks):
        assert torch.equal(read(frames, block), expected)


def test_int8_errs_by_half_a_step_of_the_own_frame_and_head() -> None:
    blocks = some(1), some(5)
    frames = kept(Keeping.INT8, *blocks)

    for block, expected in enumerate(blocks):
        by_head = expected.view(2, BATCH, FRAMES, HEADS, HEAD_DIM)
        half_steps = by_head.abs().amax(-1, keepdim=True) / 127 / 2
        errors = (read(frames, block).view_as(by_head) - by_head).abs()
        assert (errors <= 1.001 * half_steps).all()
        assert errors.max() > 0


def test_silence_comes_back_from_int8_as_silence() -> None:
    nothing = torch.zeros(2, BATCH, FRAMES, HEADS * HEAD_DIM)
    assert torch.equal(read(kept(Keeping.INT8, nothing), 0), nothing)


def test_int8_takes_about_half_the_memory_of_16_bits() -> None:
    config = FULL.flow
    frames = room(Keeping.INT8, 1, 1, 50, config.heads, config.head_dim)
    values = 2 * 50 * config.dim
    assert frames.frames == 50
    assert frames.nbytes == values + values // config.head_dim * 4
    assert frames.nbytes < 0.54 * (2 * values)
