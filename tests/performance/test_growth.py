"""Memory, descriptors and threads of a robot do not grow; the measurement detects growth."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SLOPE = 300.0  # [kB/min]; the first use of memory still adds to this after minutes
MINUTES = 6
# For every line of input it keeps a megabyte, a file and a thread, and prints a line.
LEAK = """
import sys, threading
kept = []
for line in sys.stdin:
    thread = threading.Thread(target=threading.Event().wait, daemon=True)
    thread.start()
    kept.append((bytearray(b"x" * 1_000_000), open("/dev/null"), thread))
    print("kept", flush=True)
"""


@pytest.fixture
def growth() -> ModuleType:
    from benchmarks.robot import growth

    return growth


def test_a_process_that_grows_is_found(growth: ModuleType) -> None:
    courses: dict[int, object] = {}
    leaking = subprocess.Popen(
        [sys.executable, "-c", LEAK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {growth.MARK: "leak"},
    )
    with leaking:
        assert leaking.stdin and leaking.stdout
        for minute in range(12):
            leaking.stdin.write(b"\n")
            leaking.stdin.flush()
            assert leaking.stdout.readline() == b"kept\n"
            growth.sample("leak", courses, 60.0 * minute)
        leaking.stdin.close()
    (course,) = courses.values()
    found = course.growth()
    assert 900 < found.slope < 1500
    assert found.descriptors >= 4
    assert found.threads >= 4


def test_a_single_step_and_noise_are_no_growth(growth: ModuleType) -> None:
    time = [float(second) for second in range(100)]
    noise = [(7 * second) % 13 for second in range(100)]
    step = [0.0] * 60 + [5000.0] * 40
    assert abs(growth.slope(time, noise)) < 0.05
    assert growth.slope(time, step) == 0.0
    assert growth.slope(time, [3.0 * second for second in time]) == pytest.approx(3.0)
    assert growth.drift([4, 5, 4, 9, 4, 5]) == 0
    assert growth.drift([4, 4, 5, 5, 6, 6]) == 2


@pytest.mark.soak
@pytest.mark.parametrize("backend", ["twin", "mujoco"])
def test_memory_descriptors_and_threads_of_a_robot_do_not_grow(backend: str) -> None:
    if backend == "twin" and os.geteuid() != 0:
        pytest.skip("only root can make a virtual ring")
    command = [sys.executable, "-m", "benchmarks.robot.growth", "--backend", backend]
    command += ["--minutes", str(MINUTES), "--json"]
    run = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT)
    figures = json.loads(run.stdout)
    found = {name: figure["median"] for name, figure in figures.items()}
    expected = {"hc", "guard", "control", "viewer", "black_box"}
    if backend == "twin":
        expected |= {"robot", "truth", "erob_impedance_manager", "humanoid_devices_can.guard"}
    assert {name.split(":")[0] for name in found} == expected
    bounds = {"memory": 200.0, "slope": SLOPE, "descriptors": 0.0, "threads": 0.0}
    grown = {
        name: value for name, value in found.items() if value > bounds[name.rpartition(": ")[2]]
    }
    assert grown == {}
