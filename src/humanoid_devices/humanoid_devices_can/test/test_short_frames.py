"""A family with 11-bit identifiers and frames of fewer than eight bytes, from end to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import can
import pytest

from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.bus.bus import Bus, BusSettings, DataFrame, InvalidFrame
from humanoid_devices_can.bus.opening import open_bus
from humanoid_devices_can.errors import ProtocolError
from humanoid_devices_can.guard.channel import GuardedMotor, GuardJob
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.timing import Timing
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig
from src.humanoid_devices.test.short_motors import (
    COMMAND,
    ENABLE,
    FEEDBACK,
    THREE,
    UNIT,
    ShortFirmware,
    ShortSystem,
    TwinFrame,
    offer_short_motors,
    remote_frame,
)

IDS = [5, 6]
QUICK = Timing(enable_timeout=0.4, enable_retry=0.15, disable_timeout=0.3)
Make = Callable[..., tuple[CanBench, CanRig]]


@pytest.fixture
def motors(
    can_bench: MakeBench,
    can_info: MakeInfo,
    can_rig: MakeRig,
    monkeypatch: pytest.MonkeyPatch,
) -> Make:
    """Two motors on a virtual bus and their component, not yet activated."""
    offer_short_motors(monkeypatch)

    def make(port: str = "stepped", timing: Timing = QUICK) -> tuple[CanBench, CanRig]:
        bench = can_bench("short", "short", IDS, port)
        info = can_info(IDS, "short", interface=bench.interface, channel=bench.address)
        return bench, can_rig(ShortSystem(timing, bench.host), info, bench.time)

    return make


def frames_on(bench: CanBench) -> list[TwinFrame]:
    """Return the list of later frames on the bus."""
    found: list[TwinFrame] = []
    node = bench._can.bus.attach(lambda frame, _now: found.append(frame))
    node.set(listens_only=True)
    return found


def test_five_numbers_of_a_command_act_and_feedback_arrives(motors: Make) -> None:
    bench, rig = motors()
    bench.plant.set_brake(0, engaged=True)  # position and velocity are 0
    rig.activate()
    assert all(bench.drive(id_)["firmware"]["enabled"] for id_ in IDS)
    rig.command.position[0], rig.command.velocity[0] = 0.1, 0.2
    rig.command.effort[0], rig.command.stiffness[0], rig.command.damping[0] = 0.3, 20.0, 2.0
    expected = pytest.approx(20.0 * 0.1 + 2.0 * 0.2 + 0.3, abs=UNIT)
    rig.until(lambda _: bench.drive(5)["torque"] == expected)
    report = rig.until(lambda _: rig.state.effort[0] == expected)
    assert report.level is SafetyLevel.OK
    rig.deactivate()
    assert not any(drive["firmware"]["enabled"] for drive in bench.call("drives"))


def test_motor_that_kept_gains_and_set_point_has_no_torque_when_it_is_enabled_again(
    motors: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, rig = motors()
    rig.activate()
    rig.command.position[:], rig.command.stiffness[:], rig.command.damping[:] = 0.5, 20.0, 1.0
    rig.run(1.0)
    rig.deactivate()
    assert bench.drive(5)["firmware"]["stiffness"] == pytest.approx(20.0)
    bench.plant.set_state(0, -0.5, 0.0)
    torques: list[float] = []
    step = ShortFirmware.tick

    def recorded(firmware: ShortFirmware, position: float, velocity: float) -> float:
        torques.append(step(firmware, position, velocity))
        return torques[-1]

    monkeypatch.setattr(ShortFirmware, "tick", recorded)
    rig.activate()
    rig.pause(0.2)
    assert torques
    assert not any(torques)


def test_short_frames_have_11_bit_identifiers_and_their_own_length(motors: Make) -> None:
    bench, rig = motors()
    found = frames_on(bench)
    rig.activate()
    rig.run(0.1)
    rig.deactivate()
    assert not any(frame.extended for frame in found)
    lengths = {(frame.identifier >> 8, len(frame.data)) for frame in found}
    assert {(COMMAND, 6), (ENABLE, 1), (FEEDBACK, 6)} <= lengths


def test_frame_with_a_long_identifier_is_reported_and_moves_no_motor(motors: Make) -> None:
    bench, rig = motors()
    rig.activate()
    rig.run(0.1)
    bench.call("stray", ENABLE << 8 | 5, b"\0", True)
    report = rig.until(lambda report: report.flags & SafetyFlag.INVALID_FRAME)
    assert "0x00000305 has 29 bits; motors send data frames with 11 bits" in report.message
    assert bench.drive(5)["firmware"]["enabled"]


def test_remote_frame_with_a_motors_identifier_moves_no_motor(motors: Make) -> None:
    bench, rig = motors()
    rig.activate()
    rig.run(0.1)
    bench._can.stray(remote_frame(ENABLE << 8 | 5))
    report = rig.until(lambda report: report.flags & SafetyFlag.INVALID_FRAME)
    assert "0x305 has 11 bits and is a remote or FD frame" in report.message
    assert bench.drive(5)["firmware"]["enabled"]


def test_guard_disables_the_motors_of_a_loop_that_stands_still(motors: Make) -> None:
    bench, rig = motors("slcan", Timing())
    rig.activate()
    rig.command.stiffness[:] = 20.0
    guard = rig.system._lifecycle.guard
    rig.until(lambda _: guard._running.memory.alive_at > 0.0)
    rig.until(lambda _: bench.drive(6)["firmware"]["stiffness"] == pytest.approx(20.0))
    # The loop stands still from here on; pytest's time-out is the limit of the wait.
    while any(bench.drive(id_)["firmware"]["enabled"] for id_ in IDS):
        time.sleep(0.005)
    report = rig.until(lambda report: "disabled by the guard" in report.message)
    assert report.flags & SafetyFlag.MOTOR_FAULT


def test_job_of_the_guard_contains_the_length_of_identifiers() -> None:
    bus = BusSettings("slcan", "/dev/ttyACM0", 1_000_000, extended=False)
    job = GuardJob(
        bus, (GuardedMotor("j0 (id 5)", DisabledProof((0x405,))),), ((0x305, b"\0"),), 0.2
    )
    assert not GuardJob.decode(job.encode(7))[0].bus.extended


@pytest.fixture
def pair() -> Iterator[tuple[Bus, can.BusABC]]:
    """A bus of 11-bit identifiers, and the other end of it."""
    ours = open_bus(BusSettings("virtual", "test_short", 1_000_000, extended=False))
    theirs = can.Bus(interface="virtual", channel="test_short")
    yield ours, theirs
    ours.close()
    theirs.shutdown()


def test_short_frames_go_both_ways(pair) -> None:
    ours, theirs = pair
    ours.send((0x105, THREE.pack(1, 2, 3)))
    message = theirs.recv(1.0)
    assert (message.arbitration_id, message.is_extended_id, message.dlc) == (0x105, False, 6)
    theirs.send(can.Message(arbitration_id=0x405, is_extended_id=False, data=b"\1\2\3"))
    assert ours.receive(1.0) == DataFrame(0x405, b"\1\2\3")
    theirs.send(can.Message(arbitration_id=0x405, is_extended_id=True, data=b"\1\2\3"))
    assert isinstance(ours.receive(1.0), InvalidFrame)


@pytest.mark.parametrize("identifier", [0x800, -1])
def test_identifier_that_an_adapter_would_cut_is_refused(pair, identifier: int) -> None:
    ours, theirs = pair
    with pytest.raises(ProtocolError, match="more than the family's 11 bits"):
        ours.send((identifier, b""))
    assert theirs.recv(0.0) is None
