"""No SDO write leaves without fresh joint states, for any start and interruption."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from humanoid_controller_manager.hardware_component import HardwareInfo
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate
from humanoid_devices_erob.operation.ordered_exit import OrderedExit
from src.humanoid_devices.humanoid_devices_erob.test.system.gate_trials import GateTrials, Tally

if TYPE_CHECKING:
    from src.humanoid_devices.humanoid_devices_erob.test.system.conftest import InfoFactory

MakeTrials = Callable[[int], GateTrials]


@pytest.fixture
def make_trials(make_info: InfoFactory, tmp_path: Path) -> MakeTrials:
    """Make trials on rings in memory, each from a seed."""

    @cache
    def infos(count: int, rate: float, bring_up: int) -> HardwareInfo:
        path = tmp_path / f"{count}.yaml"
        lines = [f"j{i}: {{id: {i}, direction: 1, homing_offset: 0.0}}\n" for i in range(count)]
        path.write_text("".join(lines))
        block = {
            "calibration_file": str(path),
            "bringup_frequency": str(bring_up),
            "activation_timeout": "1",
        }
        return make_info(count, update_rate=rate, block=block)

    def make(seed: int) -> GateTrials:
        return GateTrials(infos, seed)

    return make


def never_noted(self: ErobSystem, published: float, measured: float) -> None:
    """Do not note the publication of joint states."""


def noted_without_their_age(self: ErobSystem, published: float, measured: float) -> None:
    if self._state is not None:
        self._gate.seen(self._settings.joints, self._state.position.tolist(), published)


# Defects of the gate: the replaced function, and its replacement.
MUTANTS = {
    "always open": (JointStatesGate, "obstacle", lambda *_: ""),
    "open twice as long": (
        JointStatesGate, "closes", property(lambda gate: gate._closes + gate.limit)
    ),
    "not a number is no flaw": (JointStatesGate, "_flaw_of", lambda *_: ""),
    "age of the measurement not asked": (
        ErobSystem, "joint_states_published", noted_without_their_age
    ),
    "publication never noted": (ErobSystem, "joint_states_published", never_noted),
    "ordered exit not excepted": (
        OrderedExit, "_refusal", lambda *_: "waiting for /prime/joint_states"
    ),
}  # fmt: skip


def test_no_write_leaves_outside_the_gate(make_trials: MakeTrials) -> None:
    tally = make_trials(1).run(20)
    assert tally.violations == [], str(tally)
    assert tally.started > 5, str(tally)
    assert tally.writes["operating"] > 100, str(tally)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_gate_that_is_broken_is_convicted(
    make_trials: MakeTrials, monkeypatch: pytest.MonkeyPatch, mutant: str
) -> None:
    monkeypatch.setattr(*MUTANTS[mutant])
    gate_trials = make_trials(1)
    assert any(gate_trials.run(1).violations for _ in range(60)), str(gate_trials.tally)


@pytest.mark.soak
def test_no_write_leaves_outside_the_gate_in_ten_thousand_trials(
    make_trials: MakeTrials, capsys: pytest.CaptureFixture[str]
) -> None:
    tally, begun, computed = Tally(), time.perf_counter(), time.process_time()
    for seed in range(100, 120):
        tally += make_trials(seed).run(500)
        times = time.process_time() - computed, time.perf_counter() - begun
        with capsys.disabled():
            sys.stdout.write(f"\n{times[0]:.0f} s of a processor in {times[1]:.0f} s: {tally}")
            sys.stdout.flush()
    assert tally.trials == 10_000
    assert tally.violations == [], str(tally)
    assert tally.started > 5_000, str(tally)
    assert tally.writes["operating"] > 100_000, str(tally)


@pytest.mark.soak
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_gate_that_is_broken_is_convicted_often(
    make_trials: MakeTrials,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mutant: str,
) -> None:
    monkeypatch.setattr(*MUTANTS[mutant])
    tally = make_trials(1).run(100)
    with capsys.disabled():
        sys.stdout.write(f"\n{mutant}: {len(tally.convicted)} of {tally.trials} trials")
    assert len(tally.convicted) >= 2, str(tally)
