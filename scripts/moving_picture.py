"""Make the moving picture of the README: Prime in the browser viewer, from DAMPING to REMOTE.

The robot runs in MuJoCo and is recorded. The recording is replayed slowly, since a machine without
a graphics card draws a page a second; the picture shows it in the robot's own time.
Run it in the workspace's environment (env.sh), with chromium: `python scripts/moving_picture.py`.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from PIL import Image
from playwright.sync_api import FloatRect

from humanoid_viz.browser_testing import OperatorPage, chromium

ROOT: Final = Path(__file__).resolve().parent.parent
PICTURE: Final = ROOT / "docs/images/prime.gif"
EXAMPLE: Final = ROOT / "docs/examples/raise_an_elbow.py"
GIVE_UP: Final = 60.0  # [s] for a program to say what is waited for
RATE: Final = 0.05  # of the replay: a picture takes a second
STEP: Final = 0.125  # [s] of the robot's time between two pictures
SHARPNESS: Final = 0.7  # of the 3-D view
WINDOW: Final = FloatRect(x=160.0, y=0.0, width=1120.0, height=720.0)
SIZE: Final = (840, 540)
COLOURS: Final = 96
TAIL: Final = 16  # pictures at the end, in which the page has lost its robot


class Program:
    """`hc` with arguments, in a group of its own; what it says goes to a file."""

    def __init__(self, log: Path, *arguments: str) -> None:
        self._log, self._command = log, " ".join(("hc", *arguments))
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                ["hc", *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    @property
    def text(self) -> str:
        """What it has said."""
        return self._log.read_text(errors="replace")

    @property
    def runs(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def said(self, pattern: str) -> str:
        """Wait until its output matches. Raises RuntimeError after GIVE_UP, or if it ends."""
        deadline = time.monotonic() + GIVE_UP
        while time.monotonic() < deadline:
            found = re.search(pattern, self.text)
            if found:
                return found[0]
            if not self.runs:
                break
            time.sleep(0.1)
        raise RuntimeError(f"expected '{pattern}' of `{self._command}`, found:\n{self.text}")

    def end(self) -> None:
        """Interrupt it, and wait."""
        if self.runs:
            self._process.send_signal(signal.SIGINT)
        self._process.wait(GIVE_UP)


@contextmanager
def program(log: Path, *arguments: str) -> Iterator[Program]:
    """Run it, and end it."""
    running = Program(log, *arguments)
    try:
        yield running
    finally:
        running.end()


def record(folder: Path, bag: Path) -> None:
    """Record a robot that goes through its modes."""

    def hc(*arguments: str) -> None:
        subprocess.run(["hc", *arguments], check=True)

    with program(folder / "up.txt", "up", "mujoco") as robot:
        robot.said("Prime is up")
        with program(folder / "record.txt", "record", str(bag)) as recording:
            recording.said("recording")
            hc("mode", "damp")
            time.sleep(1.0)  # of the picture
            hc("mode", "load", "--wait")
            time.sleep(1.0)
            hc("mode", "remote")
            subprocess.run([sys.executable, EXAMPLE], check=True)
            time.sleep(2.0)


def draw(folder: Path, bag: Path) -> list[Image.Image]:
    """Pictures of the page while the recording is replayed, STEP apart."""
    pictures: list[Image.Image] = []
    replay = ("replay", str(bag), "--viewer", "--rate", str(RATE))
    with program(folder / "replay.txt", *replay) as replaying, chromium() as browser:
        tab = OperatorPage(browser, replaying.said(r"http://\S+").rstrip("/"), SHARPNESS)
        for notice in tab.page.locator(".mantine-Notification-closeButton").all():
            notice.click()  # that the graphics are drawn in software
        begin = time.monotonic()
        while "replayed" not in replaying.text:
            time.sleep(max(0.0, begin + len(pictures) * STEP / RATE - time.monotonic()))
            png = tab.page.screenshot(clip=WINDOW)
            pictures.append(Image.open(io.BytesIO(png)).convert("RGB").resize(SIZE))
            sys.stdout.write(f"\r{len(pictures)} pictures")
            sys.stdout.flush()
    return pictures


def save(pictures: list[Image.Image], file: Path) -> None:
    """All with one palette, so that what stands still costs nothing."""
    palette = pictures[0].quantize(COLOURS)
    few = [it.quantize(palette=palette, dither=Image.Dither.NONE) for it in pictures]
    few[0].save(
        file,
        save_all=True,
        append_images=few[1:],
        duration=round(STEP * 1e3),
        loop=0,
        optimize=True,
    )
    sys.stdout.write(f"\n{file}: {file.stat().st_size / 1e6:.1f} MB\n")


def main() -> None:
    """Record, draw and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bag", type=Path, help="a recording to draw, instead of a new one")
    parser.add_argument("--output", type=Path, default=PICTURE)
    arguments = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = str(random.randint(1, 101))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    with TemporaryDirectory() as name:
        folder = Path(name)
        bag = arguments.bag or folder / "bag"
        if arguments.bag is None:
            record(folder, bag)
        save(draw(folder, bag)[:-TAIL], arguments.output)


if __name__ == "__main__":
    main()
