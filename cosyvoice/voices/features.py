"""What the three networks hear of a prompt clip: a resampled clip and three kinds of mel spectrum.

Each network was trained on features of another library, whose conventions are kept: the speaker encoder on
Kaldi's, the speech tokenizer on Whisper's, the flow on those of the HiFi-GAN vocoder with librosa's bands.
All of it is float32, as there. A clip is a vector (N,) float32 in [-1, 1], an array or a tensor.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from cosyvoice.config import MEL_BINS, SAMPLE_RATE_HZ, SAMPLES_PER_FRAME
from cosyvoice.errors import VoiceError

Clip = Tensor | NDArray[np.float32]

FEATURE_RATE_HZ = 16000  # of the speaker encoder and the speech tokenizer

# Resampling, as torchaudio's default: a sinc of six zero crossings a side under a Hann window.
_CROSSINGS = 6
_ROLLOFF = 0.99  # the cut-off, of the lower Nyquist frequency
_LARGEST_RATIO = 1000  # of whole numbers; a kernel for 44101 to 24000 Hz would take gigabytes

# Kaldi's filter bank: 25 ms windows every 10 ms.
_KALDI_WINDOW, _KALDI_HOP, _KALDI_FFT = 400, 160, 512
_KALDI_LOWEST_HZ = 20
_PRE_EMPHASIS = 0.97
_POVEY_POWER = 0.85  # the Povey window is a Hann window to this power
_SMALLEST_ENERGY = torch.finfo(torch.float32).eps

# Whisper's log-mel, 25 ms windows every 10 ms.
_WHISPER_BINS = 128
_WHISPER_WINDOW, _WHISPER_HOP = 400, 160
_WHISPER_RANGE = 8  # powers of ten below the loudest value

# The flow's mel, 80 ms windows every 20 ms.
_MEL_WINDOW = 4 * SAMPLES_PER_FRAME
_SMALLEST_MAGNITUDE = 1e-5


def resample(clip: Clip, from_hz: int, to_hz: int) -> Tensor:
    """(N,) at one rate -> (ceil(N * to_hz / from_hz),) at another.

    Raises:
        VoiceError: the ratio of the rates is not one of small whole numbers.
    """
    step = from_hz // math.gcd(from_hz, to_hz)
    phases = to_hz // math.gcd(from_hz, to_hz)  # new samples for every `step` old ones
    if max(step, phases) > _LARGEST_RATIO:
        raise VoiceError([f"a clip at {from_hz} Hz cannot be brought to {to_hz} Hz: record it at 48000 Hz"])
    samples = _samples(clip, 1, from_hz)
    cutoff = min(step, phases) * _ROLLOFF  # twice the cut-off frequency, in units of from_hz / step
    reach = math.ceil(_CROSSINGS * step / cutoff)
    old = torch.arange(-reach, step + reach, dtype=torch.float64) / step
    new = torch.arange(phases, dtype=torch.float64)[:, None] / phases
    crossings = ((old - new) * cutoff).clamp(-_CROSSINGS, _CROSSINGS)  # (phases, taps)
    window = torch.cos(crossings * (math.pi / 2 / _CROSSINGS)).square()
    kernel = (torch.sinc(crossings) * window * (cutoff / step)).float()
    padded = F.pad(samples[None, None], (reach, reach + step))
    resampled: Tensor = F.conv1d(padded, kernel[:, None], stride=step)[0]  # (phases, N / step)
    return resampled.T.flatten()[: math.ceil(len(samples) * phases / step)]


def fbank80(clip: Clip) -> Tensor:
    """(N,) at 16 kHz -> Kaldi log filter-bank energies (1 + (N - 400) // 160, 80), the mean of each bin 0.

    Raises:
        VoiceError: the clip is shorter than a window.
    """
    frames = _samples(clip, _KALDI_WINDOW, FEATURE_RATE_HZ).unfold(0, _KALDI_WINDOW, _KALDI_HOP)  # (T, 400)
    frames = frames - frames.mean(1, keepdim=True)
    before = torch.cat((frames[:, :1], frames[:, :-1]), 1)
    window = torch.hann_window(_KALDI_WINDOW, periodic=False).pow(_POVEY_POWER)
    spectrum = torch.fft.rfft((frames - _PRE_EMPHASIS * before) * window, _KALDI_FFT)  # (T, 257)
    energy = spectrum.abs().square() @ _kaldi_bank().T  # (T, 80)
    log_energy: Tensor = energy.clamp(min=_SMALLEST_ENERGY).log()
    return log_energy - log_energy.mean(0)


def log_mel128(clip: Clip) -> Tensor:
    """(N,) at 16 kHz -> Whisper's log-mel (128, N // 160), the loudest 8 decades as a span of 2.

    Raises:
        VoiceError: the clip is shorter than a window.
    """
    samples = _samples(clip, _WHISPER_WINDOW, FEATURE_RATE_HZ)
    window = torch.hann_window(_WHISPER_WINDOW)
    spectrum = torch.stft(samples, _WHISPER_WINDOW, _WHISPER_HOP, window=window, return_complex=True)
    power = spectrum[:, :-1].abs().square()  # (201, T); Whisper drops the last frame
    mel = _slaney_bank(FEATURE_RATE_HZ, _WHISPER_WINDOW, _WHISPER_BINS) @ power
    decades = mel.clamp(min=1e-10).log10()
    decades = torch.maximum(decades, decades.max() - _WHISPER_RANGE)
    return (decades + 4) / 4


def mel80(clip: Clip) -> Tensor:
    """(N,) at 24 kHz -> natural log-mel (80, N // 480), 50 frames/s, as the flow makes and the vocoder takes.

    Raises:
        VoiceError: the clip is shorter than a window.
    """
    samples = _samples(clip, _MEL_WINDOW, SAMPLE_RATE_HZ)
    margin = (_MEL_WINDOW - SAMPLES_PER_FRAME) // 2
    padded = F.pad(samples[None], (margin, margin), mode="reflect")[0]
    window = torch.hann_window(_MEL_WINDOW)
    spectrum = torch.stft(
        padded, _MEL_WINDOW, SAMPLES_PER_FRAME, window=window, center=False, return_complex=True
    )  # (961, T)
    magnitude = (spectrum.real.square() + spectrum.imag.square() + 1e-9).sqrt()
    mel = _slaney_bank(SAMPLE_RATE_HZ, _MEL_WINDOW, MEL_BINS) @ magnitude
    return mel.clamp(min=_SMALLEST_MAGNITUDE).log()


def _samples(clip: Clip, least: int, rate_hz: int) -> Tensor:
    samples = torch.as_tensor(clip, dtype=torch.float32)
    if len(samples) < least:
        raise VoiceError([f"the clip lasts {len(samples) / rate_hz:.3f} s, too short to be analysed"])
    return samples


def _kaldi_bank() -> Tensor:
    """Triangles of equal width on Kaldi's mel scale, peaks 1, (80, 257); the Nyquist bin is in none.

    In float32, as there: quiet bins hold little but rounding errors, and a finer bank moves them by 2e-4.
    """
    lowest = _kaldi_mel(_KALDI_LOWEST_HZ)
    width = (_kaldi_mel(FEATURE_RATE_HZ / 2) - lowest) / (MEL_BINS + 1)
    band = torch.arange(MEL_BINS)[:, None]
    left, peak, right = (lowest + (band + corner) * width for corner in range(3))  # (80, 1) each
    hertz = FEATURE_RATE_HZ / _KALDI_FFT * torch.arange(_KALDI_FFT // 2)
    mel = 1127 * (1 + hertz / 700).log()
    triangles = torch.minimum((mel - left) / (peak - left), (right - mel) / (right - peak))
    return F.pad(triangles.clamp(min=0), (0, 1))


def _kaldi_mel(hertz: float) -> float:
    return 1127 * math.log(1 + hertz / 700)


def _slaney_bank(rate_hz: int, fft: int, bins: int) -> Tensor:
    """Triangles on Slaney's mel scale from 0 Hz to Nyquist, areas equal, (bins, fft // 2 + 1).

    The scale is linear up to 1 kHz, 15 mel there, and logarithmic above: 27 mel for a factor of 6.4.
    """
    linear, growth = 1000 / 15, math.log(6.4) / 27
    top = 15 + math.log(rate_hz / 2 / 1000) / growth
    mel = torch.linspace(0, top, bins + 2, dtype=torch.float64)
    corners = torch.where(mel < 15, mel * linear, 1000 * ((mel - 15) * growth).exp())[:, None]  # Hz
    left, peak, right = corners[:-2], corners[1:-1], corners[2:]
    hertz = torch.linspace(0, rate_hz / 2, fft // 2 + 1, dtype=torch.float64)
    triangles = torch.minimum((hertz - left) / (peak - left), (right - hertz) / (right - peak)).clamp(min=0)
    return (triangles * 2 / (right - left)).float()
