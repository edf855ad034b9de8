"""The page in a real browser, for tests: its view and its buttons. Needs playwright."""

import io
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from humanoid_control_common.rules.modes import Mode
from humanoid_viz.page.panel import LABELS

Picture = NDArray[np.uint8]  # (height, width, 3)

# the browser of Debian; playwright would download another one
CHROMIUM = shutil.which("chromium")
# WebGL in software, no background traffic.
FLAGS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
GIVE_UP = 60.0  # [s] timeout of every wait, far above the expected time
# Colours closer than this, of 255, are the same: software rendering dithers.
SAME_COLOUR = 12


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class OperatorPage:
    """The viewer's page in one tab of 1280x720.

    `sharpness` is the resolution of the 3-D view. Software draws it: with 1 a picture takes a
    second.
    """

    def __init__(self, browser: Browser, url: str, sharpness: float = 0.25) -> None:
        self.page: Page = browser.new_page(viewport={"width": 1280, "height": 720})
        self.page.set_default_timeout(GIVE_UP * 1000)
        self.page.goto(f"{url}/?fixedDpr={sharpness}")
        expect(self.page.locator(".hc-connection")).to_be_visible(timeout=GIVE_UP * 1000)

    def shows(self, text: str | re.Pattern[str], where: str = "body") -> None:
        """Wait until the element `where` (a CSS selector) shows `text`."""
        expect(self.page.locator(where)).to_contain_text(text, timeout=GIVE_UP * 1000)

    def shows_mode(self, mode: Mode) -> None:
        """Wait until `mode` is shown as the one in force."""
        expect(self.page.locator(".hc-mode")).to_have_text(mode.name, timeout=GIVE_UP * 1000)

    def button(self, label: str) -> Locator:
        """Return the button with this label."""
        return self.page.get_by_role("button", name=label, exact=True)

    def click_mode(self, mode: Mode) -> None:
        """Click the button that requests `mode`."""
        self.button(LABELS[mode]).click()

    def in_view(self, label: str) -> bool:
        """Return whether the whole button is in the window and nothing covers its middle."""
        return bool(
            self.button(label).evaluate(
                """button => {
                    const r = button.getBoundingClientRect();
                    const x = r.left + r.width / 2, y = r.top + r.height / 2;
                    return r.width > 0 && r.left >= 0 && r.top >= 0 && r.right <= innerWidth &&
                        r.bottom <= innerHeight && button.contains(document.elementFromPoint(x, y));
                }"""
            )
        )

    def robot_view(self) -> Picture:
        """Return the middle of the 3-D view, where viser shows no notices."""
        box = self.page.locator("canvas[data-engine]").bounding_box()
        assert box is not None
        picture = self.page.screenshot(
            clip={
                "x": box["x"] + 0.3 * box["width"],
                "y": box["y"] + 0.3 * box["height"],
                "width": 0.4 * box["width"],
                "height": 0.4 * box["height"],
            }
        )
        with Image.open(io.BytesIO(picture)) as image:
            return np.asarray(image.convert("RGB"))

    def robot_view_becomes(self, right: Callable[[Picture], bool], what: str) -> Picture:
        """Wait until the 3-D view is `right`. Return it; `what` describes it in the error."""
        deadline = time.monotonic() + GIVE_UP
        while time.monotonic() < deadline:
            picture = self.robot_view()
            if right(picture):
                return picture
        raise AssertionError(f"the 3-D view never became: {what}")


def changed(before: Picture, after: Picture) -> float:
    """Return the fraction of the pixels that have another colour, 0 to 1."""
    difference = np.abs(before.astype(np.int16) - after.astype(np.int16)).max(axis=2)
    return float((difference > SAME_COLOUR).mean())


def colourfulness(picture: Picture) -> float:
    """Return the fraction of the pixels with a clear colour, 0 to 1."""
    spread = picture.max(axis=2).astype(np.int16) - picture.min(axis=2)
    return float((spread > 80).mean())
