"""The sizes of the three networks: the published ones, and toy ones of the same layout for tests."""

from dataclasses import dataclass

SPEECH_CODEBOOK = 6561  # speech tokens proper; every id from here on is a control id
SPEECH_TOKENS_PER_S = 25
MEL_FRAMES_PER_TOKEN = 2
MEL_FRAMES_PER_S = SPEECH_TOKENS_PER_S * MEL_FRAMES_PER_TOKEN
MEL_BINS = 80
SPEAKER_DIM = 192  # of CAM++
SAMPLE_RATE_HZ = 24000
SAMPLES_PER_FRAME = SAMPLE_RATE_HZ // MEL_FRAMES_PER_S


@dataclass(frozen=True)
class LlmConfig:
    """The speech language model: a Qwen2 body between text and speech tokens."""

    hidden: int = 896
    intermediate: int = 4864
    layers: int = 24
    heads: int = 14
    kv_heads: int = 2
    vocab: int = 151936  # rows of the text embedding
    speech_vocab: int = 6761  # rows of the speech embedding: the codebook and 200 control ids

    @property
    def head_dim(self) -> int:
        return self.hidden // self.heads


@dataclass(frozen=True)
class FlowConfig:
    """The flow-matching model: a look-ahead encoder and a DiT."""

    dim: int = 1024
    depth: int = 22
    heads: int = 16
    head_dim: int = 64
    look_ahead_channels: int = 1024
    ff_mult: int = 2


@dataclass(frozen=True)
class VocoderConfig:
    """The HiFT vocoder and its F0 predictor."""

    channels: int = 512  # after conv_pre; halved at each of the three levels; also the F0 predictor's width


@dataclass(frozen=True)
class ModelConfig:
    """All three."""

    llm: LlmConfig
    flow: FlowConfig
    vocoder: VocoderConfig


FULL = ModelConfig(LlmConfig(), FlowConfig(), VocoderConfig())
TINY = ModelConfig(
    LlmConfig(hidden=64, intermediate=160, layers=2, heads=4, kv_heads=2, vocab=512),
    FlowConfig(dim=64, depth=2, heads=4, head_dim=16, look_ahead_channels=64),
    VocoderConfig(channels=64),
)
