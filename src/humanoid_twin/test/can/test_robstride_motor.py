"""A Robstride motor on a flywheel, commanded by frames of a host."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.build import CanJoint, build_can
from humanoid_twin.mounting import Mounting
from humanoid_twin.physics.plant import Inertia, SingleInertias

MS = 1_000_000  # [ns]
HOST = 0xFD
# velocity, torque, kp, kd; the table of the actuator documents
MODELS = {
    "rs-00": (33, 14, 500, 5),
    "rs-01": (44, 17, 500, 5),
    "rs-02": (44, 17, 500, 5),
    "rs-03": (20, 60, 5000, 100),
    "rs-04": (15, 120, 5000, 100),
    "rs-05": (50, 5.5, 500, 5),
    "rs-06": (50, 36, 5000, 100),
}
POSITION = 4 * math.pi


def signed(value: float, limit: float) -> int:
    return max(0, min(65535, round((value / limit + 1) * 32767)))


class Host:
    def __init__(
        self,
        model: str = "rs-02",
        *,
        mounting: Mounting | None = None,
        position: float = 0.0,
        inertia: float = 1e9,
    ) -> None:
        self.limits = MODELS[model]
        self.plant = SingleInertias([Inertia(inertia=inertia)], [0.0])
        joint = CanJoint(index=0, family="robstride", model=model, mounting=mounting or Mounting())
        self.can = build_can(self.plant, {7: joint})
        self.motor = self.can.motor(7)
        self.got: list[CanFrame] = []
        self.controller = self.can.bus.attach(lambda frame, _now: self.got.append(frame))
        self.run()  # it wakes up at 0
        self.plant.set_state(0, position, 0.0)
        self.run()

    def restart(self, position: float) -> None:
        """Switch off and on, at a raw angle."""
        self.motor.power(False)
        self.plant.set_state(0, position, 0.0)
        self.motor.power(True)
        self.run()

    def run(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            self.can.run(self.can.bus.now + MS)
            self.can.step()
            self.plant.step(0.001)

    def send(self, kind: int, data: bytes = bytes(8), extra: int = HOST, device: int = 7) -> None:
        frame = CanFrame(kind << 24 | extra << 8 | device, data)
        assert self.controller.send(frame, self.can.bus.now)
        self.run(2)

    def answer(self, kind: int) -> CanFrame:
        frame = self.got[-1]
        assert frame.identifier >> 24 == kind
        return frame

    def status(self) -> dict[str, float]:
        frame = self.answer(2)
        assert frame.identifier & 0xFF == HOST
        extra = frame.identifier >> 8 & 0xFFFF
        assert extra & 0xFF == 7
        position, velocity, torque, temperature = struct.unpack(">4H", frame.data)
        return {
            "faults": extra >> 8 & 0x3F,
            "mode": extra >> 14,
            "position": (position / 32767 - 1) * POSITION,
            "velocity": (velocity / 32767 - 1) * self.limits[0],
            "torque": (torque / 32767 - 1) * self.limits[1],
            "temperature": temperature / 10,
        }

    def enable(self) -> None:
        self.send(3)
        assert self.status()["mode"] == 2

    def control(self, position=0.0, velocity=0.0, torque=0.0, kp=0.0, kd=0.0) -> None:
        limits = self.limits
        data = struct.pack(
            ">4H",
            signed(position, POSITION),
            signed(velocity, limits[0]),
            max(0, min(65535, round(kp / limits[2] * 65535))),
            max(0, min(65535, round(kd / limits[3] * 65535))),
        )
        self.send(1, data, extra=signed(torque, limits[1]))

    @property
    def torque(self) -> float:
        return float(self.plant.torque[0])

    def write(self, parameter: int, layout: str, value: float) -> None:
        self.send(18, struct.pack("<H", parameter) + bytes(2) + struct.pack(layout, value))

    def read(self, parameter: int, layout: str) -> float:
        self.send(17, struct.pack("<H", parameter) + bytes(6))
        frame = self.answer(17)
        assert frame.identifier == 17 << 24 | 7 << 8 | HOST
        assert struct.unpack_from("<H", frame.data)[0] == parameter
        return struct.unpack_from(layout, frame.data, 4)[0]


@given(
    model=st.sampled_from(sorted(MODELS)),
    position=st.floats(-2, 2),
    velocity=st.floats(-5, 5),
    torque=st.floats(-2, 2),
    kp=st.floats(0, 100),
    kd=st.floats(0, 5),
    at=st.floats(-2, 2),
    direction=st.sampled_from([1, -1]),
)
def test_five_numbers_give_the_torque_of_the_mit_law_within_the_wires_steps(
    model, position, velocity, torque, kp, kd, at, direction
):
    one = Host(model, mounting=Mounting(direction, 0.5), position=at)
    one.enable()
    raw = direction * position + 0.5
    one.control(raw, direction * velocity, direction * torque, kp, kd)
    expected = kp * (position - at) + kd * velocity + torque
    limit = one.limits[1]
    step = kp * POSITION / 65534 + kd * one.limits[0] / 65534 + limit / 65534
    step += one.limits[2] / 65535 * abs(position - at) + one.limits[3] / 65535 * abs(velocity)
    assert one.torque == pytest.approx(max(-limit, min(limit, expected)), abs=step + 1e-6)


def test_limp_when_enabled_until_the_first_command():
    one = Host(position=1.0)
    one.enable()
    one.run(100)
    assert one.torque == 0


def test_disabled_motor_answers_commands_and_gives_no_torque():
    one = Host()
    one.control(1.0, kp=50)
    assert one.status()["mode"] == 0
    assert one.torque == 0


def test_disable_takes_the_torque():
    one = Host()
    one.enable()
    one.control(0.1, kp=50)
    assert one.torque == pytest.approx(5, abs=0.05)
    one.send(4)
    assert one.torque == 0
    assert one.status()["mode"] == 0


def test_status_has_what_the_motor_measures():
    one = Host(mounting=Mounting(-1, 0.2), position=0.7)
    one.motor.firmware.temperature = 41.5
    one.enable()
    one.plant.set_state(0, 0.7, 1.5)
    one.control(torque=3.0)
    one.plant.set_state(0, 0.7, 1.5)
    one.run(1)
    one.control(torque=3.0)
    status = one.status()
    assert status["position"] == pytest.approx(-0.5, abs=0.01)
    assert status["velocity"] == pytest.approx(-1.5, abs=2e-3)
    assert status["torque"] == pytest.approx(3.0, abs=1e-3)
    assert status["temperature"] == 41.5
    assert status["faults"] == 0


@pytest.mark.parametrize(
    ("parameter", "layout", "value"),
    [
        (0x700B, "<f", 4.0),
        (0x7018, "<f", 9.5),
        (0x7005, "<B", 2),
        (0x7026, "<H", 3),
        (0x7028, "<I", 20000),
        (0x7029, "<B", 1),
        (0x702B, "<f", -0.25),
    ],
    ids=repr,
)
def test_parameter_written_is_read_back(parameter, layout, value):
    one = Host()
    one.write(parameter, layout + {"<B": "xxx", "<H": "xx"}.get(layout, ""), value)
    assert one.answer(2)
    assert one.read(parameter, layout) == value


def test_factory_parameters_are_those_of_the_model():
    one = Host("rs-03")
    assert one.read(0x700B, "<f") == 60
    assert one.read(0x7018, "<f") == 43
    assert one.read(0x7005, "<B") == 0
    assert one.read(0x7028, "<I") == 0


def test_parameter_that_is_not_there_is_refused():
    one = Host()
    one.send(17, struct.pack("<H", 0x1234) + bytes(6))
    assert one.answer(17).identifier >> 16 & 0xFF == 1


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0], ids=str)
def test_limit_that_can_not_be_is_ignored_and_one_beyond_the_model_cut_off(value):
    one = Host()
    one.write(0x700B, "<f", value)
    assert one.read(0x700B, "<f") == 17
    one.write(0x700B, "<f", 18.0)
    assert one.read(0x700B, "<f") == 17


def test_torque_limit_and_current_limit_bound_the_torque():
    one = Host("rs-02")
    one.write(0x700B, "<f", 4.0)
    one.enable()
    one.control(torque=10.0)
    assert one.torque == pytest.approx(4.0)
    one.write(0x7018, "<f", 2.3)  # a tenth of the current of full torque
    one.run(1)
    assert one.torque == pytest.approx(1.7)


def test_motor_in_another_run_mode_ignores_operation_control():
    one = Host()
    one.write(0x7005, "<Bxxx", 1)
    one.enable()
    one.control(torque=3.0)
    assert one.torque == 0


def test_parameters_are_lost_with_power_unless_saved():
    one = Host()
    one.write(0x700B, "<f", 4.0)
    one.motor.power(False)
    one.motor.power(True)
    assert one.read(0x700B, "<f") == 17
    one.write(0x700B, "<f", 5.0)
    one.send(22)
    one.motor.power(False)
    one.motor.power(True)
    assert one.read(0x700B, "<f") == 5
    assert not one.motor.report()["firmware"]["enabled"]


def test_silence_longer_than_the_can_timeout_disables_it():
    one = Host()
    one.write(0x7028, "<I", 2000)  # 0.1 s
    one.enable()
    for _ in range(20):
        one.control(torque=1.0)
        one.run(90)
    assert one.torque == pytest.approx(1.0, abs=1e-3)
    one.run(20)
    assert one.torque == 0
    assert not one.motor.report()["firmware"]["enabled"]


def test_motor_without_can_timeout_continues_the_last_command():
    one = Host()
    one.enable()
    one.control(torque=1.0)
    one.run(3000)
    assert one.torque == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("fault", "shown"),
    [(1, 0b100), (1 << 1, 0b10), (1 << 2, 0b1), (1 << 7, 0b100000), (1 << 14, 0b10000), (8, 0)],
)
def test_fault_is_reported_disables_and_shows_in_the_status(fault, shown):
    one = Host()
    one.enable()
    one.control(torque=1.0)
    one.motor.firmware.fault(fault)
    one.run(2)
    report = one.answer(21)
    assert report.identifier == 21 << 24 | 7 << 8 | HOST
    assert struct.unpack("<II", report.data) == (fault, 0)
    assert one.torque == 0
    one.send(3)
    assert one.status() | {"temperature": 0} == pytest.approx(
        {"faults": shown, "mode": 0, "position": 0, "velocity": 0, "torque": 0, "temperature": 0}
    )


def test_fault_is_cleared_by_a_disable_with_the_clear_flag_only():
    one = Host()
    one.motor.firmware.fault(2)
    one.run(2)
    one.send(4)
    assert one.status()["faults"] == 2
    one.send(4, b"\x01" + bytes(7))
    assert one.status()["faults"] == 0
    assert struct.unpack("<II", one.got[-2].data) == (0, 0)  # the fault report says it, too
    one.enable()


@pytest.mark.parametrize(("model", "limit"), [("rs-02", 145.0), ("rs-05", 135.0)])
def test_heat_is_warned_of_then_a_fault_that_lasts_until_it_is_cool(model, limit):
    one = Host(model)
    one.enable()
    one.motor.firmware.temperature = limit - 5.0
    one.run(2)
    assert struct.unpack("<II", one.answer(21).data) == (0, 1)
    assert one.motor.report()["firmware"]["enabled"]
    one.motor.firmware.temperature = limit + 5.0
    one.run(2)
    assert struct.unpack("<II", one.answer(21).data) == (1, 1)
    one.send(4, b"\x01" + bytes(7))
    assert one.status()["faults"] == 0b100
    one.motor.firmware.temperature = 30.0
    one.run(2)
    one.send(4, b"\x01" + bytes(7))
    assert one.status()["faults"] == 0
    assert one.status()["temperature"] == 30


def test_enabling_can_be_slow_and_disable_cancels_it():
    one = Host()
    one.motor.firmware.enable_time = 0.1
    one.send(3)
    assert not one.got
    one.run(110)
    assert one.status()["mode"] == 2
    one.send(4)
    one.send(3)
    one.send(4)
    one.run(200)
    assert one.status()["mode"] == 0


def test_zero_is_where_it_was_set_and_torque_follows():
    one = Host(position=1.0)
    one.send(6, b"\x01" + bytes(7))
    assert one.status()["position"] == pytest.approx(0, abs=1e-3)
    one.enable()
    one.control(0.1, kp=50)
    assert one.torque == pytest.approx(5, abs=0.05)


@pytest.mark.parametrize(
    ("state", "at", "shown"),
    [
        (0, -0.5, math.tau - 0.5),
        (0, 7.0, 7.0 - math.tau),
        (1, -0.5, -0.5),
        (1, 4.0, 4.0 - math.tau),
    ],
)
def test_a_motor_wakes_up_within_the_turn_that_its_zero_state_selects(state, at, shown):
    one = Host()
    one.write(0x7029, "<Bxxx", state)
    one.write(0x702B, "<f", 0.25)
    one.send(22)
    one.restart(at)
    one.enable()
    assert one.status()["position"] == pytest.approx(shown + 0.25, abs=1e-3)
    one.control(shown + 0.35, kp=50)
    assert one.torque == pytest.approx(5, abs=0.05)
    one.plant.set_state(0, at - 7.0, 0.0)
    one.run()
    one.send(4)  # it counts turns while it has power
    assert one.status()["position"] == pytest.approx(shown + 0.25 - 7.0, abs=1e-3)


@pytest.mark.parametrize(("period", "most"), [(None, 10), (3, 20)])
def test_a_motor_that_reports_by_itself_does_so_until_it_is_switched_off(period, most):
    one = Host()
    if period is not None:
        one.write(0x7026, "<Hxx", period)
    one.send(24, bytes([1, 2, 3, 4, 5, 6, 1, 0]))
    one.got.clear()
    one.run(10 * most)
    assert {frame.identifier >> 24 for frame in one.got} == {2}
    assert len(one.got) == pytest.approx(10, abs=1)
    one.send(24, bytes([1, 2, 3, 4, 5, 6, 0, 0]))
    one.got.clear()
    one.run(100)
    assert not one.got


def test_presence_request_is_answered():
    one = Host()
    one.send(0)
    assert one.answer(0).identifier == 7 << 8 | 0xFE


def test_answers_go_to_the_requesting_host():
    one = Host()
    one.send(3, extra=0x11)
    assert one.got[-1].identifier & 0xFF == 0x11


def test_frames_for_others_and_of_another_family_are_not_answered():
    one = Host()
    one.send(3, device=8)
    one.controller.send(CanFrame(0x05060701, bytes([9, 5, 5, 0, 0, 0, 0, 0])), one.can.bus.now)
    one.controller.send(CanFrame(31 << 24 | 7, bytes(8)), one.can.bus.now)
    one.controller.send(CanFrame(3 << 24 | HOST << 8 | 7, bytes(4)), one.can.bus.now)
    one.run(10)
    assert not one.got
    assert not one.motor.report()["firmware"]["enabled"]


def test_position_beyond_the_field_stays_at_its_rail():
    one = Host(position=15.0)
    one.send(4)
    assert one.status()["position"] == pytest.approx(POSITION, rel=1e-4)
