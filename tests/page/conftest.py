"""A browser with a microphone, and the page in it."""

import math
import struct
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.page.device import Device
from tests.page.server import serve

CHROMIUM = "/usr/bin/chromium"  # Debian's; Playwright's own builds are not needed
RATE_HZ = 48000
TIMEOUT_MS = 10_000
EXPECTED = "Failed to load resource"  # what the console says of every refusal of the API

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the browser hears: words of 0.4 s with pauses between them, over a faint noise."""
    path = tmp_path_factory.mktemp("microphone") / "heard.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        for n in range(6 * RATE_HZ):
            level = 9000 if n % (RATE_HZ // 2) < 0.4 * RATE_HZ else 20
            file.writeframesraw(struct.pack("<h", round(level * math.sin(n * 0.03))))
    return path


@pytest.fixture(scope="module")
def browser(microphone: Path) -> Iterator[Browser]:
    """One for a module: it holds an event loop, which other tests must not meet."""
    arguments = [
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={microphone}",
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=arguments, chromium_sandbox=False, timeout=30_000
        )
        yield browser
        browser.close()


@pytest.fixture
def device() -> Device:
    return Device()


@pytest.fixture
def open_page(browser: Browser, device: Device) -> Iterator[Open]:
    """Opens the page as one would like to see it; in the end, nothing may have gone wrong in it."""
    told: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(EXPECTED):
            told.append(message.text)

    with serve(device) as address:
        contexts = []

        def open_page(address: str = address, **how: object) -> Page:
            context = browser.new_context(**{"locale": "en-GB", **how})  # type: ignore[arg-type] # options by name
            contexts.append(context)
            context.grant_permissions(["microphone"])
            page = context.new_page()
            page.set_default_timeout(TIMEOUT_MS)
            page.on("console", note)
            page.on("pageerror", lambda error: told.append(str(error)))
            page.goto(address)
            return page

        yield open_page
        for context in contexts:
            context.close()
    assert told == []


@pytest.fixture
def page(open_page: Open) -> Page:
    page = open_page()
    page.get_by_role("heading", name="Say something").wait_for()
    return page
