"""Every benchmark runs and prints its figures in the agreed form; no number is judged here."""

import ast
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SCRIPTS = sorted(
    path.name
    for path in BENCHMARKS.glob("*.py")
    if '__name__ == "__main__"' in path.read_text("utf-8")
)
EXPECTED = {
    "can_exchange.py": "Sito, 50 Hz: read + write",
    "can_load.py": "200 Hz: left_can, load",
    "control_cycle.py": "cycle, 14 joints, 1 component",
    "cyclic_exchange.py": "200 Hz: CPU",
    "false_alarms.py": "simulated",
    "friction.py": "sweep: time to record 0.06 rad",
    "gravity.py": "tick with compensation",
    "growth.py": "control: memory",
    "impedance_switch.py": "50 Hz: all 30 objects",
    "jitter.py": "control process, ordinary",
    "joint_stream.py": "update with a new command",
    "motor_board.py": "a millisecond with boards",
    "mode_switch.py": "request to statement, 50 Hz",
    "ring_bringup.py": "ours, 10 slaves, 2 ms",
    "policies.py": "update of the policy controller",
    "reaching.py": "MuJoCo, 0 kg in each hand: policy",
    "self_collision.py": "one look at all distances",
    "safety_layers.py": "all layers and black box",
    "servo.py": "tick, mixed, 20 joints",
    "simulation.py": "control process, unpaced",
    "stepped_robot.py": "trials",
    "trajectories.py": "update of the trajectory controller",
    "topics.py": "publish to callback, 200 Hz, ratio",
    "virtual_robot.py": "host at 200 Hz: CAN load",
    "whole_robot.py": "command to torque, wrist (CAN)",
}
NEED_ROOT = (
    "cyclic_exchange.py",
    "impedance_switch.py",
    "ring_bringup.py",
    "virtual_robot.py",
    "whole_robot.py",
)


def run(script: str, *options: str) -> str:
    result = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_every_benchmark_is_tested() -> None:
    assert sorted(EXPECTED) == SCRIPTS


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
def test_benchmark_says_what_it_measures(script: str) -> None:
    assert ast.get_docstring(ast.parse((BENCHMARKS / script).read_text("utf-8")))
