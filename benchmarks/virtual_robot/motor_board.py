"""Measure the inner force loop of the virtual motor boards: rate, latency and cost.

The two buses of the virtual Hand in simulated time, without the stack: a host sends each board a
new torque in every millisecond, a staircase, and reads the boards' own report. The fingers are
driven to their stops first, so the joints rest. A delay lasts from the arrival of a frame that
changes the demand until the force at the joint has come within a tenth of the change. The cost is
the processor time of a millisecond of the hand, with its boards and with motors that turn the
joints themselves.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from benchmarks.support.figures import Figure, arguments, ratio, report, single
from humanoid_bringup.robot_package import find_robot
from humanoid_devices_robstride.codec import (
    DEFAULT_HOST,
    CommunicationType,
    OperationControl,
    identifier,
)
from humanoid_twin.can.controller import CanController
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.build import VirtualCan
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.physics.mujoco_plant import MujocoPlant
from humanoid_twin.robot.actuators import Actuators, CanActuator, load_actuators
from humanoid_twin.robot.main import build_motors
from humanoid_twin.scheduler import Scheduler

SECONDS = 10.0
MILLISECOND = 1_000_000  # [ns]
MIDDLE, RANGE = 32767, 5.5  # raw 0 and largest torque [Nm] of rs-05 (actuator documents)
STAIRS = (0.30, 0.45, 0.25, 0.40, 0.35)  # [Nm], all forwards: the fingers stay at their stops


class Hand:
    """The virtual hand in this process, and a host on each of its buses."""

    def __init__(self, urdf: str, actuators: Actuators, *, boards: bool) -> None:
        simulated_time = SimulatedTime()
        plant = MujocoPlant(urdf, actuators.rotors, actuators.frictions, actuators.springs)
        self.world = Scheduler(plant, simulated_time)
        self.buses: list[VirtualCan] = []
        self._hosts: list[tuple[CanController, list[CanActuator]]] = []
        for rows in actuators.can.values():
            none = {"board": None, "tendon_of": None}
            used = rows if boards else [row.model_copy(update=none) for row in rows]
            can = build_motors(plant, actuators.joints, used, {}, simulated_time)
            self.world.add(can)
            self.buses.append(can)
            host = can.bus.attach(lambda _frame, _now: None, queue_length=20)
            self._hosts.append((host, rows))
        for host, rows in self._hosts:
            for row in rows:
                name = identifier(CommunicationType.ENABLE, DEFAULT_HOST, row.id)
                host.send(CanFrame(name, bytes(8)), 0)

    def run(self, milliseconds: int) -> float:
        """Send the staircase. Return the processor time of a millisecond [s]."""
        begun = time.process_time()
        for tick in range(milliseconds):
            torque = round((STAIRS[tick % len(STAIRS)] / RANGE + 1) * MIDDLE)
            for host, rows in self._hosts:
                for row in rows:
                    order = OperationControl(MIDDLE, MIDDLE, torque, 0, 0)
                    host.send(CanFrame(*order.encode(row.id)), self.world.now)
            self.world.run(self.world.now + MILLISECOND)
        return (time.process_time() - begun) / milliseconds


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = arguments(__doc__).parse_args(words)
    milliseconds = 300 if options.quick else round(1000 * SECONDS)
    package = find_robot("hand")
    urdf, actuators = package.expand({}), load_actuators(package.drives.virtual_robot)
    hand, plain = (Hand(urdf, actuators, boards=boards) for boards in (True, False))
    for it in (hand, plain):
        it.run(500)  # to the stops
    figures: dict[str, Figure] = {
        "a millisecond with boards": single(1e6 * hand.run(milliseconds), "us"),
        "a millisecond without": single(1e6 * plain.run(milliseconds), "us"),
    }
    figures["ratio"] = ratio(*figures.values())
    for board in (board for bus in hand.buses for board in bus.boards()):
        figures |= {
            f"board {board['id']}: steps": single(board["rate"], "1/s"),
            f"board {board['id']}: changes": single(board["changes"], ""),
            f"board {board['id']}: superseded": single(board["superseded"], ""),
            f"board {board['id']}: delay, median": single(1e3 * board["delay_median"], "ms"),
            f"board {board['id']}: delay, p99": single(1e3 * board["delay_p99"], "ms"),
        }
    report("The inner force loop of motor boards", figures, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
