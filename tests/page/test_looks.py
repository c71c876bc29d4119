"""How the page looks, on a phone and on a desk: nothing is cut off, and nobody is left out."""

import os
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.page.conftest import Open
from tests.page.device import Device

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}
SERIOUS = ("serious", "critical")


def fill(page: Page, device: Device) -> None:
    """Something of everything is to be seen."""
    for text in ("晚饭好了，快来吃吧。", "The washing machine has finished.", "boom", "hot"):
        device.say({"text": text})
    page.locator("[data-recent]").nth(3).wait_for()
    device.speaking_s = 30
    page.locator("#say-text").fill("The school bus leaves in five minutes.")
    page.keyboard.press("Control+Enter")
    device.say({"text": "明天早上八点出门，别忘了带伞。", "priority": "text"})
    page.locator("details").evaluate("details => details.open = true")
    expect(page.get_by_role("region").nth(1).get_by_role("listitem")).to_have_count(2)


def keep_picture(page: Page, name: str, folder: Path) -> None:
    """Pictures are for people to look at: in `COSYVOICED_PICTURES`, or with the test's temporary files."""
    page.screenshot(path=Path(os.environ.get("COSYVOICED_PICTURES", folder)) / f"{name}.png", full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_everything_can_be_seen_by_everyone(
    open_page: Open, device: Device, size: dict[str, int], locale: str, scheme: str, tmp_path: Path
) -> None:
    device.speaking_s = 0.05
    page = open_page(viewport=size, locale=locale, color_scheme=scheme, reduced_motion="reduce")
    page.get_by_role("region").first.wait_for()
    fill(page, device)
    keep_picture(page, f"{size['width']}-{locale}-{scheme}", tmp_path)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    found = Axe().run(page).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in found if fault["impact"] in SERIOUS] == []
