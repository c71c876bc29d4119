"""The page in a real browser, with a device that only pretends to speak."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.conftest import Open
from tests.page.device import Device
from tests.page.server import serve

pytestmark = pytest.mark.browser

SENTENCE = "Dinner is ready."


def section(page: Page, heading: str) -> Locator:
    return page.get_by_role("region", name=heading)


def say(page: Page, text: str) -> None:
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Say it").click()


def life(page: Page) -> Locator:
    """The newest request's life."""
    return page.locator("[data-life]").first


def test_a_sentence_is_queued_spoken_and_finished(page: Page) -> None:
    say(page, SENTENCE)
    step = life(page).locator("[aria-current=step]")
    expect(step).to_have_text("Being spoken")
    expect(step).to_have_text("Finished")
    expect(life(page)).to_contain_text("heart · 2.4 s")
    expect(page.get_by_role("status").first).to_contain_text(f"Finished {SENTENCE}")


def test_what_is_chosen_is_what_is_asked_for(page: Page, device: Device) -> None:
    box = section(page, "Say something")
    box.get_by_label("Voice").select_option("zf_xiaoyi")
    box.get_by_label("Style").select_option("Happy")
    box.get_by_text("More choices").click()
    box.get_by_label("Speed").fill("1.5")
    box.get_by_label("Seed").fill("7")
    box.get_by_label("Priority").select_option("important")
    box.get_by_label("Where").select_option("Only here, in the browser")
    say(page, SENTENCE)
    expect(life(page).get_by_role("button", name="Pause")).to_be_visible()  # it plays by itself
    assert device.said == [
        {
            **{"text": SENTENCE, "voice": "zf_xiaoyi", "style": "happy", "speed": 1.5, "seed": 7},
            **{"priority": "important", "output": "file"},
        }
    ]


def test_a_failure_says_why(page: Page) -> None:
    say(page, "boom")
    expect(life(page)).to_contain_text("Failed")
    expect(life(page)).to_contain_text("the engine crashed twice")


def test_a_refusal_says_why(page: Page) -> None:
    page.get_by_label("Text", exact=True).fill("\u200b")  # no space, yet nothing that can be said
    page.get_by_role("button", name="Say it").click()
    expect(section(page, "Say something").get_by_role("alert")).to_have_text("there is nothing to say")


def test_the_queue_is_held_thinned_out_and_let_go(page: Page, device: Device) -> None:
    queue = section(page, "Queue")
    queue.get_by_role("button", name="Pause").click()
    queue.get_by_role("button", name="Go on").wait_for()
    for text in ("first", "second"):
        say(page, text)
        expect(queue.get_by_text(text, exact=True)).to_be_visible()
    queue.get_by_role("button", name="Cancel “first”").click()
    expect(queue.get_by_text("first", exact=True)).to_be_hidden()
    queue.get_by_role("button", name="Go on").click()
    expect(life(page)).to_contain_text("Finished")
    expect(queue.get_by_text("Nothing is waiting.")).to_be_visible()
    assert [result["event"] for result in device.recent] == ["finished", "cancelled"]


def test_what_is_spoken_can_be_stopped_and_said_again(page: Page, device: Device) -> None:
    device.speaking_s = 20
    say(page, SENTENCE)
    section(page, "Queue").get_by_role("button", name="Stop").click()
    expect(life(page)).to_contain_text("Cancelled")
    device.speaking_s = 0.2
    section(page, "Queue").get_by_role("button", name="Say the last one again").click()
    expect(section(page, "Recent announcements").get_by_text("Finished")).to_be_visible()


def test_a_recent_announcement_is_seen_and_heard(page: Page) -> None:
    say(page, SENTENCE)
    recent = section(page, "Recent announcements").locator("[data-recent]").first
    bars = recent.locator(".wave path").first
    expect(bars).not_to_have_attribute("d", re.compile(r"^(M[\d.]+ 19v2)+$"))  # a flat line: not read yet
    position = recent.get_by_role("slider")
    position.focus()
    page.keyboard.press("ArrowRight")
    recent.get_by_role("button", name=f"Play “{SENTENCE}”").click()
    recent.get_by_role("button", name=f"Pause “{SENTENCE}”").click()
    assert float(position.input_value()) > 0


def test_the_device_says_what_it_does_about_heat_and_what_is_wrong(page: Page) -> None:
    health = section(page, "The device")
    expect(health).to_contain_text("Normal: nothing is held back")
    say(page, "hot")
    expect(health).to_contain_text("Hot: the built-in voices speak")
    expect(health).to_contain_text("the processor has 84 °C")
    expect(health).to_contain_text("no sound card")
    expect(health.get_by_role("img", name="Temperature since the page was opened")).to_be_visible()


def test_settings_are_set(page: Page, device: Device) -> None:
    settings = section(page, "Settings")
    settings.get_by_label("Volume").focus()
    page.keyboard.press("ArrowLeft")
    settings.get_by_label("Voice").select_option("heart")
    settings.get_by_label("Style").select_option("Slow")
    settings.get_by_label("Do not disturb").check()
    expect(page.get_by_role("banner").get_by_text("Do not disturb")).to_be_visible()
    assert device.settings == {"volume": 79, "voice": "heart", "style": "slow", "do_not_disturb": True}


def test_a_voice_is_recorded_checked_and_added(page: Page, device: Device) -> None:
    voices = section(page, "A voice of your own")
    voices.get_by_label("Words spoken").fill("One two three four five six.")
    voices.get_by_role("button", name="Record", exact=True).click()
    expect(voices.get_by_role("meter")).to_be_visible()
    for said in ("Long enough", "Loud enough", "Quiet room", "No peak is cut off"):
        expect(voices.get_by_text(said, exact=True)).to_be_visible()
    voices.get_by_role("button", name="Stop recording").click()
    expect(voices.get_by_text("Record in a quiet room")).to_be_visible()
    assert device.checked[0] > 3 * 44100 * 2  # seconds of 16-bit samples
    voices.get_by_label("Name").fill("papa")
    add = voices.get_by_role("button", name="Add the voice")
    expect(add).to_be_disabled()
    voices.get_by_label("Add it in spite of the problems").check()
    add.click()
    expect(voices.get_by_text("The voice papa was added.")).to_be_visible()
    delete = voices.get_by_role("button", name="Delete the voice papa")
    delete.click()
    voices.get_by_role("button", name="Really delete?").click()
    expect(delete).to_be_hidden()
    assert "papa" not in [voice["name"] for voice in device.voices]


def test_a_file_that_is_too_large_is_not_sent(page: Page, device: Device) -> None:
    voices = section(page, "A voice of your own")
    clip = {"name": "long.wav", "mimeType": "audio/wav", "buffer": bytes(10 * 2**20 + 1)}
    voices.get_by_label("Choose a file").set_input_files(clip)  # type: ignore[arg-type] # a FilePayload
    expect(voices.get_by_role("alert")).to_have_text("The file is larger than 10 MiB.")
    assert device.checked == []


def test_a_token_is_asked_for_where_one_is_needed(open_page: Open) -> None:
    with serve(Device(), token="open-sesame") as address:
        page = open_page(address)
        for token in ("guessed", "open-sesame"):
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Log in").click()
            if token == "guessed":
                expect(page.get_by_role("alert")).to_have_text("This token is not right.")
        expect(page.get_by_role("heading", name="Say something")).to_be_visible()
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("Token")).to_be_visible()


def test_the_page_speaks_the_browsers_language_until_another_is_chosen(open_page: Open) -> None:
    page = open_page(locale="zh-CN")
    expect(page.get_by_role("heading", name="说一句话")).to_be_visible()
    page.get_by_role("button", name="English").click()
    page.reload()
    expect(page.get_by_role("heading", name="Say something")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "en"


def test_the_keyboard_alone_is_enough(page: Page, device: Device) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skips to the box
    page.keyboard.type(SENTENCE)
    page.keyboard.press("Control+Enter")
    expect(life(page)).to_contain_text("Finished")
    assert device.said[0]["text"] == SENTENCE
