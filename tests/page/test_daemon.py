"""The page of a real daemon: what a newcomer does first."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.mqtt.mosquitto import free_port
from tests.page.conftest import Open
from tests.system.device import Device

pytest.importorskip("starlette", reason="the extra web")

pytestmark = [pytest.mark.system, pytest.mark.browser, pytest.mark.timeout(180)]

PORT = free_port()
ADDRESS = f"http://127.0.0.1:{PORT}/"
SLOW_MS = 40_000


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    with Device(tmp_path_factory.mktemp("device"), web={"enabled": True, "port": PORT}) as daemon:
        yield daemon


def test_a_sentence_is_said_and_can_be_heard_again(open_page: Open, daemon: Device) -> None:
    page = open_page(ADDRESS)
    page.get_by_label("Text", exact=True).fill("Dinner is ready.")
    page.get_by_role("button", name="Say it").click()
    life = page.locator("[data-life]").first
    expect(life.locator("[aria-current=step]")).to_have_text("Finished", timeout=SLOW_MS)
    recent = page.locator("[data-recent]").first
    expect(recent.locator(".wave path").first).to_have_attribute("d", re.compile("v[1-9][0-9]"))
    recent.get_by_role("button", name="Play “Dinner is ready.”").click()
    expect(recent.get_by_role("button", name="Pause “Dinner is ready.”")).to_be_visible()
    assert [result["event"] for result in daemon.ears.finals()] == ["finished"]


def test_a_setting_outlives_the_page(open_page: Open, daemon: Device) -> None:
    page = open_page(ADDRESS)
    page.get_by_label("Do not disturb").check()
    expect(page.get_by_role("banner").get_by_text("Do not disturb")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Do not disturb")).to_be_checked()
    page.get_by_label("Do not disturb").uncheck()
    expect(page.get_by_role("banner").get_by_text("Do not disturb")).to_be_hidden()


def test_a_recording_is_told_what_is_wrong_with_it(open_page: Open, daemon: Device) -> None:
    page = open_page(ADDRESS)
    page.get_by_label("Words spoken").fill("One two three four five six seven.")
    page.get_by_role("button", name="Record", exact=True).click()
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Stop recording").click()
    findings = page.get_by_role("region", name="A voice of your own").get_by_role("listitem")
    length = findings.filter(has_text="Length")
    expect(length).to_contain_text("Problem", timeout=SLOW_MS)
    expect(length).to_contain_text("Record one or two whole sentences")
