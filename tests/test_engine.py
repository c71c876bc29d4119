"""The whole pipeline of the model, on tiny random weights: it says nonsense, but not at random."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from cosyvoice import engine, measure, model, reference
from cosyvoice.engine import CosyVoice, Utterance, Voice, pieces_of, reusable, stretch
from cosyvoice.errors import GenerationError, ModelError
from cosyvoice.flow.prompt import FlowPrompt
from cosyvoice.llm.generate import Limits, generate
from cosyvoice.model import Model
from cosyvoice.quality import BALANCED, EXACT, FAST
from cosyvoice.text.annotations import AnnotationError
from tests import tiny_model

TOKENS = 60
LIMITS = Limits(TOKENS, TOKENS, guarded=False)
TEXT = Utterance("今天下午三点开会。", "zh", limits=LIMITS)
SAMPLES_PER_TOKEN = 960


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("model")
    tiny_model.make(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(folder: Path) -> Model:
    return model.load(folder / "prepared", 1, lambda line: None)


@pytest.fixture(scope="module")
def voice() -> Voice:
    return measure.a_voice()


def sound(parts: Iterator[Tensor]) -> Tensor:
    return torch.cat(list(parts))


@pytest.mark.parametrize("quality", [EXACT, BALANCED, FAST], ids=lambda quality: quality.name)
def test_equal_requests_give_equal_samples_whatever_was_said_before(
    tiny: Model, voice: Voice, quality: object
) -> None:
    speaker = CosyVoice(tiny, quality)  # type: ignore[arg-type] # one of the three
    first = sound(speaker.speak(TEXT, voice))
    assert 0 < len(first) <= TOKENS * SAMPLES_PER_TOKEN  # long silences are shortened
    assert first.abs().max() <= 0.99
    other = sound(speaker.speak(Utterance(TEXT.text, "zh", seed=1, limits=LIMITS), voice))
    assert not torch.equal(other[: len(first)], first[: len(other)])
    assert torch.equal(sound(speaker.speak(TEXT, voice)), first)
    assert torch.equal(sound(CosyVoice(tiny, quality).speak(TEXT, voice)), first)  # type: ignore[arg-type]


def test_the_first_second_comes_before_the_rest_is_made(tiny: Model, voice: Voice) -> None:
    speaker = CosyVoice(tiny, BALANCED)
    parts = speaker.speak(TEXT, voice)
    next(parts)
    llm_s = speaker.times.llm_s
    rest = list(parts)
    assert len(rest) > 0
    assert speaker.times.llm_s > llm_s


def test_int8_says_what_float32_says(folder: Path, tiny: Model) -> None:
    plain = reference.load(folder / "published")
    for quality in (EXACT, BALANCED):
        mels = [measure.some_mel(loaded, quality) for loaded in (plain, tiny)]
        assert measure.correlation(mels[0], mels[1]) > 0.995


def test_speed_changes_the_length_and_not_the_tokens(tiny: Model, voice: Voice) -> None:
    speaker = CosyVoice(tiny, BALANCED)
    plain = len(sound(speaker.speak(TEXT, voice)))
    for speed in (0.5, 2.0):
        fast = sound(speaker.speak(Utterance(TEXT.text, "zh", speed=speed, limits=LIMITS), voice))
        assert len(fast) == pytest.approx(plain / speed, abs=SAMPLES_PER_TOKEN)


def test_a_cancel_ends_it_between_two_tokens(tiny: Model, voice: Voice) -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 20

    assert list(CosyVoice(tiny, BALANCED).speak(TEXT, voice, cancelled)) == []
    assert asked < 30


def failing(
    times: int, right: Callable[..., Iterator[int]], seeds: list[int]
) -> Callable[..., Iterator[int]]:
    def failing_generate(*arguments: object, seed: int, **options: object) -> Iterator[int]:
        seeds.append(seed)
        if len(seeds) <= times:
            yield 5
            raise GenerationError("it does not end")
        yield from right(*arguments, seed=seed, **options)

    return failing_generate


def test_a_generation_that_goes_wrong_is_tried_with_the_next_seed(
    tiny: Model, voice: Voice, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = sound(
        CosyVoice(tiny, BALANCED).speak(Utterance(TEXT.text, "zh", seed=8, limits=LIMITS), voice)
    )
    seeds: list[int] = []
    monkeypatch.setattr("cosyvoice.engine.generate", failing(1, generate, seeds))
    retried = sound(CosyVoice(tiny, BALANCED).speak(Utterance(TEXT.text, "zh", seed=7, limits=LIMITS), voice))
    assert seeds == [7, 8]
    assert torch.equal(retried, expected)


def test_two_that_go_wrong_are_an_error(tiny: Model, voice: Voice, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    monkeypatch.setattr("cosyvoice.engine.generate", failing(2, generate, seeds))
    with pytest.raises(GenerationError, match="does not end"):
        list(CosyVoice(tiny, BALANCED).speak(TEXT, voice))
    assert seeds == [0, 1]


@pytest.mark.parametrize("text", ["", "。。。", "！？"])
def test_nothing_to_say_is_an_error(tiny: Model, voice: Voice, text: str) -> None:
    with pytest.raises(GenerationError, match="nothing"):
        list(CosyVoice(tiny, BALANCED).speak(Utterance(text, "zh"), voice))


def test_a_bad_annotation_is_an_error(tiny: Model, voice: Voice) -> None:
    with pytest.raises(AnnotationError):
        list(CosyVoice(tiny, BALANCED).speak(Utterance("你好[hoa4]", "zh"), voice))


def test_pieces_end_at_sentences_and_lose_nothing() -> None:
    text = "第一句话在这里，说得比较长一些。第二句话也不短，大家都听得见吧。第三句话在最后面等着。"
    pieces = pieces_of(text, "zh")
    assert "".join(pieces) == text
    assert all(len(piece) <= engine.MAX_PIECE_CHARS["zh"] and piece.endswith("。") for piece in pieces)


def test_numbers_are_read_and_annotations_kept() -> None:
    assert pieces_of("她25岁，爱[h][ào]画画。", "zh") == ["她二十五岁，爱[h][ào]画画。"]
    assert pieces_of("Es kostet 25 Euro.", "de") == ["Es kostet 25 Euro."]


@pytest.mark.parametrize(("tokens", "left"), [(75, 75), (78, 75), (74, 74), (130, 125), (20, 20)])
def test_a_prompt_is_cut_only_where_enough_of_the_voice_is_left(tokens: int, left: int) -> None:
    prompt = FlowPrompt(torch.zeros(tokens, dtype=torch.long), torch.zeros(2 * tokens, 80), torch.ones(192))
    assert len(reusable(prompt).tokens) == left


def test_stretching_keeps_the_ends() -> None:
    mel = torch.linspace(0, 1, 100).expand(1, 80, -1)
    assert stretch(mel, 2.0).shape == (1, 80, 50)
    assert stretch(mel, 1.0) is mel


def test_a_folder_without_a_model_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cosyvoiced model prepare"):
        model.load(tmp_path, 1, lambda line: None)
