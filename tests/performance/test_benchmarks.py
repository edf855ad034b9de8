"""Every benchmark runs and prints its figures in the agreed form; no number is judged here."""

import ast
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(
    ".".join(path.relative_to(ROOT / "benchmarks").with_suffix("").parts)
    for path in ROOT.glob("benchmarks/*/*.py")
    if '__name__ == "__main__"' in path.read_text("utf-8")
)
EXPECTED = {
    "can.can_exchange": "Sito, 50 Hz: read + write",
    "can.can_load": "200 Hz: left_can, load",
    "control.control_cycle": "cycle, 14 joints, 1 component",
    "ethercat.cyclic_exchange": "200 Hz: CPU",
    "robot.false_alarms": "simulated",
    "motion.friction": "sweep: time to record 0.06 rad",
    "motion.gravity": "tick with compensation",
    "robot.growth": "control: memory",
    "ethercat.impedance_switch": "50 Hz: all 30 objects",
    "control.jitter": "control process, ordinary",
    "control.joint_stream": "update with a new command",
    "virtual_robot.motor_board": "a millisecond with boards",
    "control.mode_switch": "request to statement, 50 Hz",
    "ethercat.ring_bringup": "ours, 10 slaves, 2 ms",
    "motion.policies": "update of the policy controller",
    "motion.reaching": "MuJoCo, 0 kg in each hand: policy",
    "motion.self_collision": "one look at all distances",
    "control.safety_layers": "all layers and black box",
    "motion.servo": "tick, mixed, 20 joints",
    "virtual_robot.simulation": "control process, unpaced",
    "virtual_robot.stepped_robot": "trials",
    "motion.trajectories": "update of the trajectory controller",
    "control.topics": "publish to callback, 200 Hz, ratio",
    "virtual_robot.virtual_robot": "host at 200 Hz: CAN load",
    "robot.joint_stream_torque": "command to torque, wrist (CAN)",
    "robot.whole_robot": "command to torque, wrist (CAN)",
}
NEED_ROOT = (
    "ethercat.cyclic_exchange",
    "ethercat.impedance_switch",
    "ethercat.ring_bringup",
    "virtual_robot.virtual_robot",
    "robot.joint_stream_torque",
    "robot.whole_robot",
)


def run(script: str, *options: str) -> str:
    result = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{script}", *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_every_benchmark_is_tested() -> None:
    assert sorted(EXPECTED) == SCRIPTS


def test_every_benchmark_finds_what_it_imports() -> None:
    program = "; ".join(f"import benchmarks.{script}" for script in EXPECTED)
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert found.returncode == 0, found.stderr


@pytest.mark.soak
@pytest.mark.alone
@pytest.mark.parametrize("script", EXPECTED)
def test_benchmark_prints_figures_with_median_p99_and_unit(script: str) -> None:
    if script in NEED_ROOT and os.geteuid() != 0:
        pytest.skip("only root can make a virtual ring")
    figures = json.loads(run(script, "--quick", "--json"))
    assert figures[EXPECTED[script]]["median"] > 0.0
    for name, figure in figures.items():
        assert {"median", "p99", "unit"} <= figure.keys(), name
        numbers = {key: value for key, value in figure.items() if key != "unit"}
        assert all(math.isfinite(number) for number in numbers.values()), name
        assert figure["median"] >= 0.0, name


@pytest.mark.parametrize("script", EXPECTED)
def test_benchmark_states_what_it_measures(script: str) -> None:
    file = ROOT / "benchmarks" / f"{script.replace('.', '/')}.py"
    assert ast.get_docstring(ast.parse(file.read_text("utf-8")))
