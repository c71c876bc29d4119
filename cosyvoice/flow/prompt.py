"""What the flow knows of a voice."""

from dataclasses import dataclass

from torch import Tensor

from cosyvoice.config import MEL_BINS, MEL_FRAMES_PER_TOKEN, SPEAKER_DIM, SPEECH_CODEBOOK
from cosyvoice.errors import VoiceError
from cosyvoice.flow.attention import CHUNK_FRAMES


@dataclass(frozen=True)
class FlowPrompt:
    """What the flow knows of a voice; `checked_prompt` makes one of outside data."""

    tokens: Tensor  # (N,) int64, speech tokens of the prompt audio
    mel: Tensor  # (2 * N, 80) float32 log-mel of the same audio
    embedding: Tensor  # (192,) float32, the speaker embedding

    @property
    def frames(self) -> int:
        return len(self.mel)


def checked_prompt(tokens: Tensor, mel: Tensor, embedding: Tensor) -> FlowPrompt:
    """A prompt of outside data; shapes as in `FlowPrompt`, `tokens` of any integer type.

    Raises:
        VoiceError: one sentence for everything that does not fit.
    """
    problems = []
    if tokens.ndim != 1 or tokens.is_floating_point():
        problems.append(f"speech tokens have the shape {tuple(tokens.shape)} and type {tokens.dtype}")
    elif len(tokens) and not 0 <= int(tokens.min()) <= int(tokens.max()) < SPEECH_CODEBOOK:
        problems.append(f"a speech token is outside 0 to {SPEECH_CODEBOOK - 1}")
    frames = MEL_FRAMES_PER_TOKEN * tokens.numel()
    if mel.shape != (frames, MEL_BINS):
        problems.append(
            f"the mel has the shape {tuple(mel.shape)} instead of {(frames, MEL_BINS)} for its speech tokens"
        )
    if embedding.shape != (SPEAKER_DIM,):
        problems.append(f"the speaker embedding has the shape {tuple(embedding.shape)}")
    if problems:
        raise VoiceError(problems)
    return FlowPrompt(tokens.long(), mel.float(), embedding.float())


def fitted(prompt: FlowPrompt) -> FlowPrompt:
    """The end of the prompt, in whole chunks of a second, all of which a closed prompt computes once.

    Of a prompt of 80 tokens 75 are left. A prompt below a chunk stays.
    """
    chunk_tokens = CHUNK_FRAMES // MEL_FRAMES_PER_TOKEN
    if len(prompt.tokens) < chunk_tokens:
        return prompt
    surplus = len(prompt.tokens) % chunk_tokens
    return FlowPrompt(prompt.tokens[surplus:], prompt.mel[MEL_FRAMES_PER_TOKEN * surplus :], prompt.embedding)
