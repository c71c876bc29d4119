"""Who speaks what, and who speaks in whose place."""

from daemon.synthesis import facts
from daemon.synthesis.cosyvoice3.facts import choose
from daemon.synthesis.engine import VoiceInfo
from daemon.synthesis.facts import EngineFacts, routes

BUILTIN = facts.builtin()


def heavy(*names: str) -> EngineFacts:
    voices = {
        name: VoiceInfo(name=name, engine="cosyvoice3", languages=("zh", "en"), gender="f") for name in names
    }
    return EngineFacts(
        "cosyvoice3",
        "1",
        voices,
        lambda requested, language, text: choose(voices, requested, language),
        {name: name.upper() for name in names},
    )


def ways(
    requested: str | None, language: str, *engines: EngineFacts
) -> list[tuple[str, str, tuple[str, ...]]]:
    found = routes(requested, language, "text", engines)
    return [(route.engine.name, route.voice, route.degraded) for route in found]


def test_the_builtin_engine_alone_speaks_everything() -> None:
    assert ways(None, "en", BUILTIN) == [("builtin", "heart", ())]
    assert ways("zf_xiaoyi", "zh", BUILTIN) == [("builtin", "zf_xiaoyi", ())]


def test_an_enrolled_voice_speaks_and_a_builtin_one_stands_by() -> None:
    expected = [("cosyvoice3", "mama", ()), ("builtin", "zf_xiaoyi", ("voice",))]
    assert ways("mama", "zh", heavy("mama", "papa"), BUILTIN) == expected
    assert ways(None, "zh", heavy("mama", "papa"), BUILTIN) == expected


def test_a_builtin_voice_asked_for_by_name_is_not_made_to_wait() -> None:
    assert ways("heart", "en", heavy("mama"), BUILTIN) == [("builtin", "heart", ())]


def test_an_engine_without_voices_speaks_nothing() -> None:
    assert ways(None, "en", heavy(), BUILTIN) == [("builtin", "heart", ())]


def test_a_voice_that_was_removed_meanwhile_is_named() -> None:
    assert ways("mama", "zh", heavy("papa"), BUILTIN)[0] == ("cosyvoice3", "papa", ("voice",))
    assert ways("mama", "zh", BUILTIN) == [("builtin", "zf_xiaoyi", ("voice",))]


def test_a_language_that_the_model_does_not_know_is_named() -> None:
    assert ways("mama", "th", heavy("mama"), BUILTIN)[0] == ("cosyvoice3", "mama", ("language",))


def test_a_voice_enrolled_anew_is_another_phrase() -> None:
    engine = heavy("mama")
    assert engine.version_of("mama") != engine.version
    assert engine.version_of("papa") == engine.version
