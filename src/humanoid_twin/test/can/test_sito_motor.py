"""A Sito motor on a flywheel, commanded by frames of a host."""

import math
import struct
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.build import CanJoint, VirtualCan, build_can
from humanoid_twin.mounting import Mounting
from humanoid_twin.physics.plant import Inertia, SingleInertias

MS = 1_000_000  # [ns]
COUNTS = 65536 / math.tau


class Host:
    """The adapter's end of a bus with Sito motors, and time."""

    def __init__(self, can: VirtualCan, plant: SingleInertias) -> None:
        self.can, self.plant = can, plant
        self.got: list[CanFrame] = []
        self.controller = can.bus.attach(lambda frame, _now: self.got.append(frame))

    def send(self, kind: int, data: bytes, device: int = 22) -> None:
        self.controller.send(CanFrame(0x05060000 | device << 8 | kind, data), self.can.bus.now)

    def run(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            self.can.run(self.can.bus.now + MS)
            self.can.step()
            self.plant.step(0.001)
            self.can.tick()

    def gains(self, kp: float, kd: float, device: int = 22) -> None:
        """Set gains in Nm/rad and Nm s/rad, with the divisors of the documents."""
        self.send(0x45, struct.pack(">ff", kp / 688.58, kd / 1.125), device)

    def command(
        self, position: float = 0.0, velocity: float = 0.0, effort: float = 0.0, device: int = 22
    ) -> None:
        current = round(effort / (9e-5 * 51))
        counts = round(position * COUNTS)
        self.send(0x09, struct.pack(">hhi", current, round(velocity * COUNTS), counts), device)

    def enable(self, *, feedback: tuple[int, int, int] = (5, 5, 0), device: int = 22) -> None:
        self.send(0x01, bytes([0x09, *feedback, 0, 0, 0, 0]), device)
        self.run(2)
        assert self.report(device)["firmware"]["enabled"]

    def reset(self, device: int = 22) -> None:
        self.send(0x00, b"\x55" * 8, device)
        self.run(2)

    def report(self, device: int = 22):
        return self.can.motor(device).report()

    def torque(self, device: int = 22) -> float:
        """Return the torque at the joint [Nm]."""
        return float(self.plant.torque[self.can.motor(device).shaft.joint])

    def last(self, kind: int, device: int = 22) -> bytes:
        wanted = 0x05060000 | device << 8 | kind
        return [frame.data for frame in self.got if frame.identifier == wanted][-1]


@dataclass
class Setup:
    mounting: Mounting = field(default_factory=Mounting)
    model: str = "TA40-50"
    position: float = 0.0
    inertia: float = 1e9  # the joint does not move: its torque can be read


def host(setup: Setup | None = None, **options) -> Host:
    setup = setup or Setup(**options)
    plant = SingleInertias([Inertia(inertia=setup.inertia)], [setup.position])
    joint = CanJoint(index=0, family="sito", model=setup.model, mounting=setup.mounting)
    return Host(build_can(plant, {22: joint}), plant)


finite = st.floats(-1, 1)


@given(
    position=finite,
    velocity=st.floats(-3, 3),
    effort=finite,
    kp=st.floats(0, 30),
    kd=st.floats(0, 6),
    at=finite,
    direction=st.sampled_from([1, -1]),
    offset=finite,
)
def test_five_numbers_give_the_torque_of_the_mit_law_within_the_wires_steps(
    position, velocity, effort, kp, kd, at, direction, offset
):
    one = host(mounting=Mounting(direction, offset), position=at)
    one.gains(kp, kd)
    one.enable()
    raw = direction * position + offset
    one.command(raw, direction * velocity, direction * effort)
    one.run(2)
    expected = kp * (position - at) + kd * velocity + effort
    step = kp / COUNTS + kd / COUNTS + 9e-5 * 51  # of each field, one count or mA
    limit = 5000 * 9e-5 * 51
    assert one.torque() == pytest.approx(max(-limit, min(limit, expected)), abs=step + 1e-4)


@pytest.mark.parametrize(
    ("old", "measured", "index"), [(500.0, 688.58, 0), (0.5, 1.125, 1)], ids=["kp", "kd"]
)
def test_old_divisors_make_it_too_stiff_and_over_damped(old, measured, index):
    ratio = []
    for divisor in (old, measured):
        units = [0.0, 0.0]
        units[index] = (20.0, 2.0)[index] / divisor
        one = host()
        one.send(0x45, struct.pack(">ff", *units))
        one.enable()
        one.command(position=0.1, velocity=0.5)
        one.run(2)
        ratio.append(one.torque() / (20.0 * 0.1, 2.0 * 0.5)[index])
    assert ratio[0] == pytest.approx((1.38, 2.25)[index], abs=0.005)
    assert ratio[1] == pytest.approx(1.0, abs=0.01)


def test_feedforward_current_is_torque_over_kt_and_gear():
    one = host()
    one.gains(0, 0)
    one.enable()
    one.send(0x09, struct.pack(">hhi", 1000, 0, 0))
    one.run(2)
    assert one.torque() == pytest.approx(1000 * 9e-5 * 51)


def test_longer_gear_gives_the_same_current_more_torque():
    one = host(model="TA40-100")
    one.gains(0, 0)
    one.enable()
    one.send(0x09, struct.pack(">hhi", 1000, 0, 0))
    one.run(2)
    assert one.torque() == pytest.approx(1000 * 9e-5 * 101)


def test_motor_is_disabled_after_power_up_and_ignores_commands():
    one = host()
    one.gains(20, 2)
    one.command(0.5)
    one.run(50)
    assert one.torque() == 0
    assert not one.got


def test_enabled_motor_holds_its_position_and_ignores_earlier_commands():
    one = host(position=0.7)
    one.gains(20, 2)
    one.enable()
    one.run(20)
    assert one.torque() == pytest.approx(0, abs=20 / COUNTS)
    one.command(0.0)
    one.run(2)
    assert one.torque() == pytest.approx(-14, abs=0.01)
    one.reset()
    one.enable()
    one.run(5)
    assert one.torque() == pytest.approx(0, abs=20 / COUNTS)


def test_gains_survive_reset_and_select_mode_but_not_a_loss_of_power():
    one = host()
    one.gains(20, 2)
    one.enable()
    one.reset()
    one.enable()
    assert one.report()["firmware"]["stiffness"] == pytest.approx(20)
    motor = one.can.motor(22)
    motor.power(False)
    assert one.torque() == 0
    motor.power(True)
    report = one.report()["firmware"]
    assert (report["stiffness"], report["damping"]) == pytest.approx((34.43, 2.25), abs=0.01)
    assert not report["enabled"]


def test_reset_takes_torque_and_feedback():
    one = host()
    one.gains(20, 2)
    one.enable()
    one.command(0.5)
    one.run(5)
    assert one.torque() == pytest.approx(10, abs=0.01)
    one.reset()
    assert one.torque() == 0
    one.got.clear()
    one.run(50)
    assert not one.got


@pytest.mark.parametrize("intervals", [(1, 1, 0), (5, 10, 0), (20, 0, 0), (0, 3, 7), (0, 0, 0)])
def test_feedback_comes_at_the_intervals_requested(intervals):
    one = host()
    one.enable(feedback=intervals)
    one.got.clear()
    one.run(420)
    for kind, interval in zip((0xB1, 0xB2, 0xB3), intervals, strict=True):
        count = sum(frame.identifier & 0xFF == kind for frame in one.got)
        assert count == pytest.approx(420 / interval if interval else 0, abs=1)


def test_feedback_has_position_velocity_and_current_as_the_motor_is_mounted():
    one = host(mounting=Mounting(-1, 0.25), position=0.5)
    one.gains(0, 0)
    one.enable(feedback=(1, 1, 0))
    one.send(0x09, struct.pack(">hhi", -700, 0, 0))
    one.plant.set_state(0, 0.5, 1.5)
    one.run(1)
    one.plant.set_state(0, 0.5, 1.5)
    one.run(2)
    current, velocity = struct.unpack(">xxhxxh", one.last(0xB1))
    (position,) = struct.unpack(">xxxxi", one.last(0xB2))
    assert current == -700
    assert velocity == round(-1.5 * COUNTS)
    assert position == pytest.approx((-0.5 + 0.25) * COUNTS, abs=0.003 * COUNTS)


def test_speed_beyond_the_field_wraps_in_the_feedback():
    one = host()
    one.gains(0, 0)
    one.enable(feedback=(1, 1, 0))
    one.plant.set_state(0, 0.0, 3.2)  # the field ends at 3.14 rad/s
    one.run(3)
    (velocity,) = struct.unpack(">xxxxxxh", one.last(0xB1))
    assert velocity == round(3.2 * COUNTS) - 65536


def test_motor_without_new_commands_continues_the_last_command():
    one = host()
    one.gains(20, 2)
    one.enable()
    one.command(0.1)
    one.run(2000)
    assert one.torque() == pytest.approx(2.0, abs=0.01)


def test_enabling_can_be_slow_and_reset_cancels_it():
    one = host()
    motor = one.can.motor(22)
    motor.firmware.enable_time = 0.1
    one.send(0x01, bytes([9, 5, 5, 0, 0, 0, 0, 0]))
    one.run(99)
    assert not one.report()["firmware"]["enabled"]
    one.run(5)
    assert one.report()["firmware"]["enabled"]
    one.reset()
    one.send(0x01, bytes([9, 5, 5, 0, 0, 0, 0, 0]))
    one.run(50)
    one.reset()
    one.run(200)
    assert not one.report()["firmware"]["enabled"]


@pytest.mark.parametrize("cause", ["hot", "fault"])
def test_hot_or_faulty_motor_disables_itself_is_silent_and_refuses_until_reset(cause):
    one = host()
    one.gains(20, 2)
    one.enable()
    firmware = one.can.motor(22).firmware
    if cause == "hot":
        firmware.temperature = 101.0
    else:
        firmware.fault(4)
    one.run(1)
    one.got.clear()
    one.send(0x01, bytes([9, 5, 5, 0, 0, 0, 0, 0]))
    one.run(50)
    assert one.torque() == 0
    assert not one.got
    assert one.report()["firmware"]["faults"] != 0
    firmware.temperature = 30.0
    one.reset()
    one.enable()


def test_frozen_firmware_leaves_the_torque_and_acknowledges():
    one = host()
    one.gains(20, 0)
    one.enable()
    one.command(0.1)
    one.run(5)
    one.can.motor(22).frozen = True
    one.run(10)
    one.got.clear()
    one.command(0.3)
    one.reset()
    one.run(50)
    assert one.torque() == pytest.approx(2.0, abs=0.01)
    assert not one.got
    assert one.controller.waiting == 0


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (0x45, struct.pack(">ff", math.nan, 1.0)),
        (0x45, struct.pack(">ff", 1.0, math.inf)),
        (0x45, b"\x00" * 7),
        (0x09, b""),
        (0x01, bytes([0x07, 1, 1, 0, 0, 0, 0, 0])),
        (0x33, bytes(8)),
    ],
    ids=repr,
)
def test_message_without_a_meaning_changes_nothing(kind, data):
    one = host()
    one.gains(20, 2)
    one.run(2)
    before = one.report()
    one.send(kind, data)
    one.run(5)
    assert one.report() == before


def test_message_for_another_device_or_of_another_family_changes_nothing():
    one = host()
    one.enable()
    before = one.report()
    one.gains(5, 5, device=23)
    one.controller.send(CanFrame(0x03_00FD_16, bytes(8)), one.can.bus.now)
    one.controller.send(CanFrame(0x245, bytes(8), extended=False), one.can.bus.now)
    one.run(5)
    assert one.report() == before


def test_reset_of_another_length_disables_nothing():
    one = host()
    one.enable()
    one.run(2)
    one.send(0x00, b"\x55" * 7)
    one.run(5)
    assert one.report()["firmware"]["enabled"]


def test_position_mode_holds_and_takes_no_mit_commands():
    one = host(position=0.2)
    one.gains(20, 2)
    one.send(0x01, bytes([8, 5, 5, 0, 0, 0, 0, 0]))
    one.run(2)
    one.command(1.0)
    one.run(5)
    assert one.torque() == pytest.approx(0, abs=20 / COUNTS)
    one.plant.set_state(0, 0.3, 0.0)
    one.run(1)
    assert one.torque() == pytest.approx(-2, abs=0.01)


def test_damping_of_every_mode_is_stable_on_a_light_wrist():
    one = host(inertia=0.01)
    for kp, kd in ((0.0, 6.0), (20.0, 2.0)):
        one.gains(kp, kd)
        one.enable()
        one.command()
        one.plant.set_state(0, 0.2, 1.0)
        one.run(3000)
        assert abs(float(one.plant.velocity[0])) < 0.01
    assert float(one.plant.position[0]) == pytest.approx(0, abs=0.01)
