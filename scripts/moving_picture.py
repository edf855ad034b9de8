"""Make the moving picture of the README: Prime in the browser viewer, from DAMPING to REMOTE.

The robot runs in MuJoCo and is recorded. The recording is replayed slowly, since a machine without
a graphics card draws a page a second; the picture shows it at the speed of the robot.
Run it in the workspace's environment (env.sh), with chromium: `python scripts/moving_picture.py`.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from PIL import Image
from playwright.sync_api import FloatRect

ROOT: Final = Path(__file__).resolve().parent.parent

sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
from test_support.browser import OperatorPage, chromium  # noqa: E402 - beside the tests

from benchmarks.support.program_runner import isolated, running  # noqa: E402 - beside the benchmarks

PICTURE: Final = ROOT / "docs/images/prime.gif"
EXAMPLE: Final = ROOT / "docs/examples/raise_an_elbow.py"
GIVE_UP: Final = 60.0  # [s] for a program to print the awaited line
RATE: Final = 0.05  # of the replay: a picture takes a second
STEP: Final = 0.125  # [s] of the robot's time between two pictures
SHARPNESS: Final = 0.7  # of the 3-D view
WINDOW: Final = FloatRect(x=160.0, y=0.0, width=1120.0, height=720.0)
SIZE: Final = (840, 540)
COLOURS: Final = 96
TAIL: Final = 16  # pictures at the end, in which the page has lost its robot


def record(bag: Path) -> None:
    """Record a robot that goes through its modes."""

    def hc(*arguments: str) -> None:
        subprocess.run(["hc", *arguments], check=True)

    with running(["hc", "up", "mujoco"]) as robot:
        robot.wait_for("Prime is up", GIVE_UP)
        with running(["hc", "record", str(bag)]) as recording:
            recording.wait_for("recording", GIVE_UP)
            hc("mode", "damp")
            time.sleep(1.0)  # of the picture
            hc("mode", "load", "--wait")
            time.sleep(1.0)
            hc("mode", "remote")
            subprocess.run([sys.executable, EXAMPLE], check=True)
            time.sleep(2.0)


def draw(bag: Path) -> list[Image.Image]:
    """Return pictures of the page while the recording is replayed, STEP apart."""
    pictures: list[Image.Image] = []
    replay = ["hc", "replay", str(bag), "--viewer", "--rate", str(RATE)]
    with running(replay) as replaying, chromium() as browser:
        address = replaying.wait_for(r"http://\S+", GIVE_UP).rstrip("/")
        tab = OperatorPage(browser, address, SHARPNESS)
        for notice in tab.page.locator(".mantine-Notification-closeButton").all():
            notice.click()  # that the graphics are drawn in software
        begin = time.monotonic()
        while "replayed" not in replaying.text():
            time.sleep(max(0.0, begin + len(pictures) * STEP / RATE - time.monotonic()))
            png = tab.page.screenshot(clip=WINDOW)
            pictures.append(Image.open(io.BytesIO(png)).convert("RGB").resize(SIZE))
            sys.stdout.write(f"\r{len(pictures)} pictures")
            sys.stdout.flush()
    return pictures


def save(pictures: list[Image.Image], file: Path) -> None:
    """Save the pictures with one palette, so that unchanged parts take no space."""
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
    with TemporaryDirectory() as folder, isolated():
        bag = arguments.bag or Path(folder, "bag")
        if arguments.bag is None:
            record(bag)
        save(draw(bag)[:-TAIL], arguments.output)


if __name__ == "__main__":
    main()
