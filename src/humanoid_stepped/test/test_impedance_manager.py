"""The impedance manager as a process: what it takes at once, and what it polls."""

from __future__ import annotations

from typing import Any

import pytest
from humanoid_control_msgs.msg import ControlMode, ImpedanceState
from test_support.stepped.prime import Prime

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_stepped.robot import CONTROL

JOINT_STATES = "/prime/joint_states"
STATE = "/erob_impedance_manager/state"
HOUR = 3600 * 10**9  # [ns]
LIMIT = 0.1  # [s] that joint states keep the gate open at 50 Hz
STATE_PERIOD = 0.1  # [s]
LATE = 0.01  # [s] for a message, in most cases


def listened(prime: Prime, topic: str) -> list[tuple[float, Any]]:
    """Return a list that will hold the messages of a topic, and the times of publishing [s]."""
    found: list[tuple[float, Any]] = []

    def listen(name: str, message: Any) -> None:
        if name == topic:
            found.append((prime.robot.scheduler.now * 1e-9, message))

    prime.robot.bus.listeners.append(listen)
    return found


def interrupt(prime: Prime) -> float:
    """Let no joint state arrive at a node any more. Return the time [s]."""
    prime.robot.bus.topic(JOINT_STATES).subscriptions.clear()
    return prime.robot.scheduler.now * 1e-9


@pytest.mark.parametrize("step", [-HOUR, HOUR], ids=["back", "forward"])
def test_a_clock_that_is_set_does_not_close_the_gate(prime: Prime, step: int) -> None:
    states: list[tuple[float, ImpedanceState]] = listened(prime, STATE)
    prime.pass_time(1.03)
    prime.robot.scheduler.system_offset = step
    prime.pass_time(1.0)
    assert len(states) >= 20
    assert all(state.gate_open and state.confirmed for _, state in states)


@pytest.mark.parametrize("step", [-HOUR, 0, HOUR], ids=["back", "not set", "forward"])
@pytest.mark.parametrize("wait", [0.0, 0.03, 0.06, 0.09], ids=str)
def test_a_clock_that_is_set_does_not_keep_the_gate_open(
    prime: Prime, step: int, wait: float
) -> None:
    prime.pass_time(1.03)
    interrupted = interrupt(prime)
    states: list[tuple[float, ImpedanceState]] = listened(prime, STATE)
    prime.robot.scheduler.system_offset = step
    prime.pass_time(wait)
    prime.client.request(Mode.STANDBY)  # from now on the manager looks at every statement
    prime.pass_time(0.5)
    latest = max(time for time, state in states if state.gate_open)
    assert latest <= interrupted + LIMIT + LATE
    first = min(time for time, state in states if not state.gate_open)
    assert first <= interrupted + LIMIT + STATE_PERIOD + LATE


def test_a_change_of_mode_is_written_long_before_the_next_poll(prime: Prime) -> None:
    statements: list[tuple[float, ControlMode]] = listened(prime, "/control_mode")
    delays = []
    for mode in [Mode.STANDBY, Mode.DAMPING] * 4:
        prime.pass_time(0.513)
        statements.clear()
        prime.control.log()
        prime.client.enter(mode)
        stated = min(time for time, it in statements if it.controller_name and it.mode == mode)
        begun = min(when for when, _, kind, _ in prime.control.log() if kind == "write")
        delays.append(begun - stated)
    assert max(delays) < STATE_PERIOD / 2, delays


def test_the_drives_gate_counts_from_the_measurement_not_from_its_publication(
    built: Prime, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: set[float] = set()
    reported: list[tuple[float, float]] = []
    read, published = ErobSystem.read, ErobSystem.joint_states_published

    def note_read(system: ErobSystem, *arguments: Any) -> None:
        begun.add(built.robot.processes[CONTROL].session.machine.clock())
        read(system, *arguments)

    def note_published(system: ErobSystem, at: float, measured: float) -> None:
        reported.append((at, measured))
        published(system, at, measured)

    monkeypatch.setattr(ErobSystem, "read", note_read)
    monkeypatch.setattr(ErobSystem, "joint_states_published", note_published)
    built.up()
    reported.clear()
    built.pass_time(1.0)
    assert len(reported) >= 45
    assert {measured for _, measured in reported} <= begun
    assert all(measured < at for at, measured in reported)
