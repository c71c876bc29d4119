"""Speech over HTTP: what is asked for is spoken, and what is wrong never reaches the engine."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from daemon.errors import AnnouncementError, Code
from daemon.mqtt.messages import Event
from daemon.web.turnstile import MAX_AT_ONCE_PER_CLIENT
from tests.synthesis.company import until
from tests.web.house import SECOND, a_house

GENERATE, SPEECH = "/cosyvoice/generate", "/v1/audio/speech"


async def test_generate_answers_a_wav(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (house, client):
        got = await client.get(
            GENERATE, params={"text": "one two", "style": "开心", "seed": "7", "speed": "1.5"}
        )
        posted = await client.post(GENERATE, json={"text": "one two", "voice": "heart"})
    assert got.status_code == posted.status_code == 200
    assert got.headers["content-type"] == "audio/wav"
    assert got.content[44:] == posted.content[44:] == 2 * SECOND
    assert (house.studio.asked[0].style, house.studio.asked[0].seed, house.studio.asked[0].speed) == (
        "happy",
        7,
        1.5,
    )
    assert house.studio.asked[1].voice == "heart"
    assert house.studio.closed == 2


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "missing_text"),
        ({"text": "..."}, "nothing_to_say"),
        ({"text": "x" * 201}, "text_too_long"),
        ({"text": "hi", "style": "hapy"}, "unknown_style"),
        ({"text": "hi", "voice": "nobody"}, "unknown_voice"),
        ({"text": "hi", "speed": 9}, "out_of_range"),
        ({"text": "hi", "seed": -1}, "out_of_range"),
        ({"text": "hi", "colour": "red"}, "unknown_field"),
        ({"text": "hi [x][y"}, "bad_annotation"),
    ],
)
async def test_a_wrong_request_is_told_and_never_reaches_the_engine(
    tmp_path: Path, fields: dict[str, Any], code: str
) -> None:
    async with a_house(tmp_path) as (house, client):
        for answer in (await client.post(GENERATE, json=fields), await client.get(GENERATE, params=fields)):
            assert (answer.status_code, answer.json()["code"]) == (400, code)
            assert set(answer.json()) == {"error", "code"}
    assert house.studio.asked == []


async def test_a_body_is_judged_before_it_is_read(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        large = await client.post(
            GENERATE, content=b"{" + b" " * 70_000, headers={"Content-Type": "application/json"}
        )
        typed = await client.post(GENERATE, content=b"hi", headers={"Content-Type": "audio/wav"})
        no_object = await client.post(GENERATE, json="hi")
        twice = await client.get(f"{GENERATE}?text=a&text=b")
        no_method = await client.delete(GENERATE)
        head = await client.head(f"{GENERATE}?text=hi")
        no_path = await client.get("/cosyvoice/nothing")
    told = [answer.json()["code"] for answer in (large, typed, no_object, twice, no_method, no_path)]
    assert told == [
        *("payload_too_large", "unsupported_media_type", "bad_json", "bad_json"),
        *("method_not_allowed", "not_found"),
    ]
    assert large.status_code == 413
    assert large.headers["connection"] == "close"
    assert (no_method.status_code, head.status_code) == (405, 405)
    assert "GET" in no_method.headers["allow"]


@pytest.mark.parametrize(
    ("code", "status"), [(Code.THROTTLED, 503), (Code.ENGINE_FAILED, 503), (Code.ENGINE_TIMEOUT, 504)]
)
async def test_an_engine_that_cannot_is_told(tmp_path: Path, code: Code, status: int) -> None:
    async with a_house(tmp_path) as (house, client):
        house.studio.error = AnnouncementError(code, "not now")
        answer = await client.get(GENERATE, params={"text": "hi"})
    assert (answer.status_code, answer.json()) == (status, {"error": "not now", "code": code})
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_an_engine_that_does_not_begin_in_time_is_told(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (house, client):
        house.studio.free.clear()
        answer = await client.get(GENERATE, params={"text": "hi", "ttl_s": "1"})
    assert (answer.status_code, answer.json()["code"]) == (504, "expired")
    assert house.studio.closed == 1


async def test_a_client_that_asks_too_much_at_once_is_refused(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (house, client):
        house.studio.free.clear()
        busy = [
            asyncio.create_task(client.get(GENERATE, params={"text": "hi"}))
            for _ in range(MAX_AT_ONCE_PER_CLIENT)
        ]
        await until(lambda: len(house.studio.asked) == len(busy))
        refused = await client.get(GENERATE, params={"text": "hi"})
        house.studio.free.set()
        assert [(await one).status_code for one in busy] == [200, 200]
        again = await client.get(GENERATE, params={"text": "hi"})
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.headers["retry-after"] == "1"
    assert again.status_code == 200


async def test_the_allowance_of_a_minute_ends(tmp_path: Path) -> None:
    async with a_house(tmp_path, rate_per_min=2) as (_, client):
        statuses = [(await client.get(GENERATE, params={"text": "hi"})).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]


async def test_json_names_the_file_once_it_is_whole(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (house, client):
        path = house.outputs.folder / "20261130-080500-x-1.wav"
        asking = asyncio.create_task(client.get(GENERATE, params={"text": "hi", "format": "json"}))
        entry_is_file = await house.finish_next(wav_path=str(path))
        answer = await asking
        by_header = asyncio.create_task(
            client.post(GENERATE, json={"text": "hi"}, headers={"Accept": "application/json"})
        )
        await house.finish_next(Event.EXPIRED)
        late = await by_header
    assert answer.status_code == 200
    assert (answer.json()["id"], answer.json()["url"]) == (
        entry_is_file.id,
        "/outputs/20261130-080500-x-1.wav",
    )
    assert (late.status_code, late.json()["code"]) == (504, "expired")


async def test_openais_clients_are_understood(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (house, client):
        asked = {
            "model": "tts-1",
            "input": "one",
            "voice": "alloy",
            "response_format": "wav",
            "stream_format": "audio",
        }
        spoken = await client.post(SPEECH, json=asked)
        fast = await client.post(
            SPEECH, json={**asked, "speed": 4, "voice": "heart", "response_format": "pcm"}
        )
        cheerful = await client.post(
            SPEECH, json={**asked, "instructions": "happy", "response_format": "pcm"}
        )
        models = (await client.get("/v1/models")).json()
        voices = (await client.get("/v1/audio/voices")).json()
    assert spoken.content[44:] == fast.content == cheerful.content == SECOND
    assert [(one.voice, one.speed, one.style) for one in house.studio.asked] == [
        *((None, 1.0, "neutral"), ("heart", 2.0, "neutral"), (None, 1.0, "happy"))
    ]
    assert (fast.headers["x-degraded"], fast.headers["content-type"]) == ("speed", "audio/pcm")
    assert models["data"][0]["id"] == "cosyvoiced"
    assert "heart" in [voice["id"] for voice in voices["voices"]]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"response_format": "aac"}, "out_of_range"),
        ({"voice": "nobody"}, "unknown_voice"),
        ({"speed": 5}, "out_of_range"),
        ({"input": 5}, "out_of_range"),
        ({"input": ""}, "nothing_to_say"),
    ],
)
async def test_what_openais_clients_get_wrong_is_told(
    tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    async with a_house(tmp_path) as (house, client):
        answer = await client.post(SPEECH, json={"input": "hi", **change})
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert house.studio.asked == []


async def test_the_presets_have_labels_in_both_languages(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        presets = (await client.get("/cosyvoice/preset")).json()
    assert {"value": "happy", "label": "Happy", "label_zh": "开心"} in presets


async def test_the_document_holds_every_field_of_a_request(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        told = (await client.get("/openapi.json")).json()
    assert set(told["components"]["schemas"]["Say"]["properties"]) >= {"text", "voice", "seed", "ttl_s"}
