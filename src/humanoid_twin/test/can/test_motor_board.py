"""Motor boards: the inner force loop, alone and behind its frames, and tendons over two joints."""

import math
import struct

import pytest

from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.build import Board, CanJoint, VirtualCan
from humanoid_twin.can.motors.force_loop import STEPS, BoardFigures, ForceLoop
from humanoid_twin.mounting import Mounting
from humanoid_twin.physics.plant import Inertia, SingleInertias

MS = 1_000_000  # [ns]
FIGURES = {
    "motor_inertia": 1e-5, "motor_damping": 0.02, "motor_torque": 1.0, "tendon_stiffness": 20.0,
    "tendon_damping": 0.015, "force_p": 3.0, "force_i": 100.0,
}  # fmt: skip
FIRST, SECOND = 7, 8
TORQUE_RANGE = 5.5  # [Nm] of rs-05 on the wire


def staircase(tick: int) -> float:
    """Return a demand [Nm] that changes in each millisecond, up and down."""
    return 0.4 * math.sin(0.9 * tick) + 0.1 * (tick % 3)


def test_the_force_tracks_a_staircase_of_1_khz_within_a_tick():
    """On a blocked joint the error at the end of each tick is below 4 % of the largest change."""
    loop, before, largest, errors = ForceLoop(BoardFigures(**FIGURES)), 0.0, 0.0, []
    for tick in range(500):
        demand = staircase(tick)
        loop.run(demand, 0.0, 0.0)
        errors.append(abs(loop.force - demand))
        largest = max(largest, abs(demand - before))
        before = demand
    assert largest > 0.4
    assert max(errors) <= 0.04 * largest
    assert loop.steps == 500 * STEPS


def test_the_force_is_kept_while_the_joint_moves_along():
    """The motor has to follow: without the integral part its drag would not be compensated."""
    loop, speed = ForceLoop(BoardFigures(**FIGURES)), 2.0
    for tick in range(100):
        loop.run(0.3, speed * tick * 1e-3, speed)
    assert loop.force == pytest.approx(0.3, rel=0.01)


def test_the_motor_gives_no_more_than_its_torque_and_recovers_at_once():
    loop = ForceLoop(BoardFigures(**FIGURES))
    for _ in range(200):
        loop.run(3.0, 0.0, 0.0)
    assert loop.force == pytest.approx(1.0, rel=1e-3)
    loop.run(0.2, 0.0, 0.0)
    assert loop.force == pytest.approx(0.2, abs=0.1)  # an integral part would have grown here


def test_backlash_gives_no_force_until_the_motor_has_crossed_the_gap():
    gap = 0.05
    loop = ForceLoop(BoardFigures(**FIGURES, backlash=gap))
    free, waits = 0, []
    for _ in range(3):
        for demand in (0.2, -0.2):
            wait = 0
            while abs(loop.force - demand) > 0.02:
                loop.run(demand, 0.0, 0.0)
                free += loop.force == 0.0
                wait += 1
            waits.append(wait)
    assert free > 0
    assert min(waits[1:]) > 1  # ticks; one without a gap


def test_a_motor_without_current_is_dragged_along():
    loop = ForceLoop(BoardFigures(**FIGURES))
    for tick in range(200):
        force, _ = loop.run(None, 2.0 * tick * 1e-3, 2.0)
    assert force == pytest.approx(-0.02 * 2.0, rel=0.01)  # its damping


def test_a_joint_that_is_placed_takes_its_tendon_along():
    loop = ForceLoop(BoardFigures(**FIGURES))
    loop.run(0.0, 0.0, 0.0)
    force, _ = loop.run(0.0, 1.5, 0.0)
    assert force == 0.0


class Hand:
    """Two joints on one tendon: the first board has the motor, the second an encoder only."""

    def __init__(self, direction: int = 1, **figures: float) -> None:
        self.plant = SingleInertias([Inertia(inertia=1e-4, viscous=1e-3)] * 2)
        self.can = VirtualCan(VirtualCanBus())
        mounting = Mounting(direction, 0.0)
        board = Board(figures=BoardFigures(**(FIGURES | figures)), others=(1,))
        names = {"family": "robstride", "model": "rs-05", "mounting": mounting}
        self.can.add(FIRST, self.plant, CanJoint(index=0, board=board, **names))
        self.can.add(SECOND, self.plant, CanJoint(index=1, motorless=True, **names))
        self.got: dict[int, CanFrame] = {}
        self.host = self.can.bus.attach(self._receive)
        for device in (FIRST, SECOND):
            self.send(device, 3, bytes(8))
        self.run(1)

    def _receive(self, frame: CanFrame, now: int) -> None:
        self.got[frame.identifier >> 8 & 0xFF] = frame

    def run(self, ticks: int) -> None:
        for _ in range(ticks):
            self.can.run(self.can.bus.now + MS)
            self.can.step()
            self.plant.step(0.001)

    def send(self, device: int, kind: int, data: bytes, extra: int = 0xFD) -> None:
        frame = CanFrame(kind << 24 | extra << 8 | device, data)
        assert self.host.send(frame, self.can.bus.now)

    def demand(self, device: int, torque: float) -> None:
        """Send an order of operation control without stiffness and damping."""
        middle = struct.pack(">4H", 32767, 32767, 0, 0)
        self.send(device, 1, middle, round((torque / TORQUE_RANGE + 1) * 32767))

    def status_torque(self, device: int) -> float:
        raw = struct.unpack(">4H", self.got[device].data)[2]
        return (raw / 32767 - 1) * TORQUE_RANGE


@pytest.mark.parametrize("direction", [1, -1])
def test_one_tendon_turns_both_joints_with_the_demanded_torque(direction):
    hand = Hand(direction)
    for joint in (0, 1):
        hand.plant.set_external_torque(
            joint, -0.3 * direction
        )  # so that the joints stay near this position
    for _ in range(20):
        hand.demand(FIRST, 0.3)
        hand.run(1)
    assert hand.plant.torque == pytest.approx(0.3 * direction, abs=0.01)
    hand.demand(FIRST, 0.3)
    hand.run(2)
    assert hand.status_torque(FIRST) == pytest.approx(0.3, abs=0.01)  # the measured force


def test_a_board_without_motor_gives_no_torque_whatever_is_commanded():
    hand = Hand()
    hand.demand(SECOND, 0.3)
    hand.run(20)
    assert (hand.plant.torque == 0.0).all()
    assert hand.status_torque(SECOND) == pytest.approx(0.0, abs=1e-3)
    assert hand.can.motor(SECOND).spring() == (0.0, 0.0)


def test_without_power_or_disabled_the_board_lets_go():
    hand = Hand()
    hand.demand(FIRST, 0.3)
    hand.run(5)
    hand.send(FIRST, 4, bytes(8))
    hand.plant.set_state(0, 0.0, 0.0)
    hand.plant.set_state(1, 0.0, 0.0)
    hand.run(50)
    assert hand.plant.torque == pytest.approx(0.0, abs=0.01)
    hand.can.motor(FIRST).power(False)
    assert (hand.plant.torque == 0.0).all()


def test_rate_and_latency_are_reported():
    hand = Hand()
    for joint in (0, 1):
        hand.plant.set_state(joint, 0.0, 0.0)
    for tick in range(100):
        hand.demand(FIRST, 0.2 * (-1) ** tick)
        hand.run(1)
    (found,) = hand.can.boards()
    assert found["id"] == FIRST
    assert found["rate"] == pytest.approx(5000, rel=0.01)
    assert found["changes"] == 100
    assert found["superseded"] == 0
    # The frame takes 0.15 ms on the bus, waits for the next tick, and the force one to five steps.
    assert 0.0002 <= found["delay_median"] <= found["delay_p99"] <= found["delay_max"] <= 0.002
