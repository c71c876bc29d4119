"""What the page asks for: requests, queue, settings, news, files, login."""

import asyncio
import json
import re
from pathlib import Path

import httpx2

from daemon.web.access import COOKIE
from tests.synthesis.company import until
from tests.web.house import TOKEN, a_house


async def test_what_is_said_is_queued_told_and_remembered(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (house, client):
        said = await client.post("/api/say", json={"id": "one", "text": "Dinner", "priority": "text"})
        queue = (await client.get("/api/queue")).json()
        again = await client.post("/api/say", json={"id": "one", "text": "Dinner"})
        await house.finish_next()
        recent = (await client.get("/api/recent")).json()
        wrong = await client.get("/api/recent?limit=0")
    assert (said.status_code, said.json()) == (202, {"id": "one"})
    assert queue["current"] is None
    assert (queue["waiting"][0]["id"], queue["waiting"][0]["priority"]) == ("one", "text")
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert [(result["id"], result["event"]) for result in recent] == [("one", "finished")]
    assert wrong.status_code == 400


async def test_a_full_queue_is_told(tmp_path: Path) -> None:
    async with a_house(tmp_path, room=1) as (_, client):
        statuses = [(await client.post("/api/say", json={"text": "Dinner"})).status_code for _ in range(2)]
    assert statuses == [202, 503]


async def test_commands_do_what_mqtt_commands_do(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (house, client):
        await client.post("/api/command/pause")
        assert house.queue.paused
        assert (await client.get("/api/state")).json()["paused"]
        await client.post("/api/say", json={"id": "one", "text": "Dinner"})
        cancelled = await client.post("/api/command/cancel", json={"id": "one"})
        gone = await client.post("/api/command/cancel", json={"id": "one"})
        unknown = await client.post("/api/command/reload")
        nothing = await client.post("/api/command/replay")
    assert [answer.status_code for answer in (cancelled, gone, unknown, nothing)] == [200, 409, 404, 409]
    assert len(house.queue) == 0


async def test_settings_are_changed_and_shown(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        for name, value in (("volume", 40), ("voice", "heart"), ("style", "开心"), ("do_not_disturb", True)):
            assert (await client.put(f"/api/settings/{name}", json={"value": value})).status_code == 200
        settings = (await client.get("/api/state")).json()["settings"]
        wrong = await client.put("/api/settings/volume", json={"value": 400})
        unknown = await client.put("/api/settings/colour", json={"value": "red"})
    assert settings == {"volume": 40, "voice": "heart", "style": "happy", "do_not_disturb": True}
    assert (wrong.status_code, wrong.json()["code"]) == (400, "out_of_range")
    assert unknown.status_code == 404


async def test_news_come_as_events_the_state_first(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (house, client):
        listening = asyncio.create_task(client.get("/api/events"))
        await until(lambda: bool(house.feed._mailboxes))
        await client.post("/api/say", json={"id": "one", "text": "Dinner"})
        house.feed.close()
        answer = await listening
    events = [
        dict(line.split(": ", 1) for line in block.split("\n")) for block in answer.text.strip().split("\n\n")
    ]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [event["event"] for event in events] == ["state", "result"]
    assert json.loads(events[0]["data"])["settings"]["volume"] == 100
    assert json.loads(events[1]["data"])["event"] == "accepted"


async def test_a_wav_can_be_sought_in_and_is_not_sent_twice(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (house, client):
        (house.outputs.folder / "a-1.wav").write_bytes(b"RIFF" + bytes(96))
        whole = await client.get("/outputs/a-1.wav")
        part = await client.get("/outputs/a-1.wav", headers={"Range": "bytes=0-3"})
        known = await client.get("/outputs/a-1.wav", headers={"If-None-Match": whole.headers["etag"]})
        beyond = await client.get("/outputs/a-1.wav", headers={"Range": "bytes=500-"})
    assert (whole.status_code, whole.headers["content-type"], len(whole.content)) == (200, "audio/wav", 100)
    assert (part.status_code, part.content, part.headers["content-range"]) == (206, b"RIFF", "bytes 0-3/100")
    assert (known.status_code, known.content) == (304, b"")
    assert beyond.status_code == 416


async def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (house, client):
        (tmp_path / "secret.wav").write_bytes(b"secret")
        (house.outputs.folder / "link.wav").symlink_to(tmp_path / "secret.wav")
        (house.outputs.folder / "folder.wav").mkdir()
        for name in (
            "link.wav",
            "folder.wav",
            "..%2Fsecret.wav",
            "%2e%2e/secret.wav",
            ".hidden.wav",
            "none.wav",
        ):
            answer = await client.get(f"/outputs/{name}")
            assert answer.status_code == 404, name
            assert b"secret" not in answer.content.replace(b"secret.wav", b"")


async def test_the_page_logs_in_and_out(tmp_path: Path) -> None:
    async with a_house(tmp_path, TOKEN) as (_, client):
        assert (await client.get("/api/state")).json()["code"] == "unauthorized"
        wrong = await client.post("/api/login", json={"token": "guess"})
        assert (wrong.status_code, wrong.cookies) == (401, httpx2.Cookies())
        right = await client.post("/api/login", json={"token": TOKEN})
        cookie = right.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert TOKEN not in cookie
        session = right.cookies[COOKIE]
        assert (await client.get("/api/state")).status_code == 200
        assert (await client.post("/api/logout")).status_code == 200
        client.cookies.set(COOKIE, session)
        assert (await client.get("/api/state")).status_code == 401


async def test_guessing_tokens_is_slowed_down(tmp_path: Path) -> None:
    async with a_house(tmp_path, TOKEN) as (_, client):
        statuses = [(await client.post("/api/login", json={"token": "guess"})).status_code for _ in range(21)]
    assert (statuses[0], statuses[-1]) == (401, 429)


async def test_every_answer_has_the_security_headers(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        for path in ("/", "/api/state", "/nothing", "/cosyvoice/generate", "/metrics"):
            headers = (await client.get(path)).headers
            assert "default-src 'self'" in headers["content-security-policy"], path
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert "access-control-allow-origin" not in headers


async def test_the_page_comes_compressed_and_its_assets_are_kept(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        page = await client.get("/")
        (script,) = re.findall(r'src="\./(assets/[^"]+\.js)"', page.text)
        asset = await client.get(f"/{script}", headers={"Accept-Encoding": "gzip"})
        nothing = await client.get("/assets/none.js")
    assert page.headers["cache-control"] == "no-cache"
    assert asset.headers["content-encoding"] == "gzip"
    assert "immutable" in asset.headers["cache-control"]
    assert (nothing.status_code, nothing.json()["code"]) == (404, "not_found")


async def test_the_lists_and_numbers_are_there(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        voices = (await client.get("/api/voices")).json()
        styles = (await client.get("/api/styles")).json()
        metrics = (await client.get("/metrics")).text
    assert "heart" in [voice["name"] for voice in voices]
    assert styles[0] == {"name": "neutral", "label": "Neutral", "label_zh": "平静"}
    assert "cosyvoiced_up 1" in metrics
