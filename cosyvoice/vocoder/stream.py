"""Speech from mel frames as they come: the samples are the same however the frames are cut."""

import torch
import torch.nn.functional as F
from torch import Tensor

from cosyvoice.vocoder import f0, hift
from cosyvoice.vocoder.hift import SPECTRUM_PER_FRAME, Vocoder
from cosyvoice.vocoder.istft import EDGE_SAMPLES, FRAME_SAMPLES, HOP_SAMPLES, overlap_add, stft
from cosyvoice.vocoder.layers import Memory
from cosyvoice.vocoder.source import Noise, Phase, frame_noise

CLIP = 0.99
BLOCK_FRAMES = 25  # half a second: what is worked on stays in the cache, and takes little memory


class VocoderStream:
    """One utterance on its way through the vocoder, and all that is carried over from part to part.

    The last 80 ms of what has come wait for the frames that follow, until `final`.
    """

    def __init__(self, vocoder: Vocoder, noise: Noise = frame_noise) -> None:
        self._vocoder = vocoder
        self._noise = noise
        self._memory: Memory = {}
        self._phase = Phase.start()
        self._source = torch.empty(0)  # source samples from the next spectrum frame on
        self._tail: Tensor | None = None  # of the inverse transform, from the next sample on

    @torch.inference_mode()
    def extend(self, mel: Tensor, final: bool) -> Tensor:
        """mel: (1, 80, T) float32 log-mel, 50 frames/s -> (1, N) float32 in [-0.99, 0.99], 24 kHz.

        T may be 0. With `final`, 480 samples have come out for each frame that went in; no more may go in.
        """
        rows = mel[0].T  # (T, 80)
        pitch = self._vocoder.f0(_ahead(rows, f0.LOOK_AHEAD_FRAMES, final), self._memory)  # (N + 1, 1)
        source, self._phase = self._vocoder.source(pitch, self._phase, self._noise)
        self._keep(source, final)
        x = self._vocoder.pre(_ahead(rows, hift.LOOK_AHEAD_FRAMES, final), self._memory)  # (N, channels)
        blocks = x.split(BLOCK_FRAMES)
        ends = [False] * (len(blocks) - 1) + [final]
        samples = [self._decode(block, end) for block, end in zip(blocks, ends, strict=True)]
        return torch.cat(samples).clamp_(-CLIP, CLIP)[None]  # (1, 480 N)

    def _keep(self, samples: Tensor, final: bool) -> None:
        """Appends source samples. Beyond both ends of the signal, half a spectrum frame is its reflection."""
        past = self._source if len(self._source) else samples[1 : EDGE_SAMPLES + 1].flip(0)
        source = torch.cat((past, samples))
        future = source[-EDGE_SAMPLES - 1 : -1].flip(0) if final else source[:0]
        self._source = torch.cat((source, future))

    def _decode(self, x: Tensor, final: bool) -> Tensor:
        """x: (N, channels) -> samples (480 N,), of which the last 4 of a part come with the next."""
        if not len(x):
            return x.new_empty(0)
        count = SPECTRUM_PER_FRAME * len(x) + (self._tail is None)
        spectrum = stft(self._source[: (count - 1) * HOP_SAMPLES + FRAME_SAMPLES])  # (count, 18)
        self._source = self._source[count * HOP_SAMPLES :]
        frames = self._vocoder.decode(x, spectrum, self._memory)  # (count, 16)
        samples, self._tail = overlap_add(frames, self._tail, final)
        return samples


def _ahead(mel: Tensor, frames: int, final: bool) -> Tensor:
    """At the end of the speech, zeros stand for the frames that a layer looks ahead to."""
    return F.pad(mel, (0, 0, 0, frames)) if final else mel
