"""Measure one control cycle without ROS: read + update + limits + write with mock hardware.

Publishing, in another thread, is excluded; the hand-over to that thread is included. Cycles run
back to back, with warm caches, and paced: one every 5 ms, as on the robot. The cost of limiting a
joint is measured with a controller whose target for that joint is always too far ahead.
"""

from __future__ import annotations

import gc
import time

import numpy as np

from benchmarks.support.figures import Figure, arguments, figure, report
from humanoid_control_common.robot.joints import FloatArray, JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.member import Member
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo
from humanoid_controller_manager.loop.control_loop import ControlLoop, SwitchRequest
from humanoid_controller_manager.loop.mode_controllers import ControllerSlot
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controllers.passive_controllers import DampingController, DampingParameters
from humanoid_controllers.standby import Pose, StandbyController, StandbyParameters

RATE = 1000.0  # [Hz]
CYCLES = 20_000
WARM_UP = 1000  # cycles left out
PACE = 0.005  # [s]
PACED_CYCLES = 2000


class AheadController(StandbyController):
    """STANDBY, but the first joint's target is always `ahead` [rad] of it."""

    ahead = 0.0

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        super().update(state, command, now, period)
        command.position[0] = state.position[0] + self.ahead


def loop_of(
    joint_count: int, component_count: int, standby: StandbyController | None = None
) -> ControlLoop:
    """Return a running loop in STANDBY on mock hardware, joints dealt to the components in turn."""
    names = tuple(f"joint_{i}" for i in range(joint_count))
    joints = JointSet(names)
    ones = np.ones(joint_count)
    limits = JointLimits(-3.0 * ones, 3.0 * ones, 4.0 * ones, 30.0 * ones)
    members = [_member(names[i::component_count], joints, i) for i in range(component_count)]
    hardware = HardwareGroup(joints, members)
    hardware.configure()
    robot = RobotFacts(joints, limits, RATE)
    standby, damping = standby or StandbyController(), DampingController()
    pose = Pose(duration=3600.0, positions=[0.5] * joint_count)
    standby.on_configure(
        StandbyParameters(stiffness=20.0, damping=2.0, sequence=["p"], poses={"p": pose}), robot
    )
    damping.on_configure(DampingParameters(damping=6.0), robot)
    slots = {
        "standby": ControllerSlot("standby", standby),
        "damping": ControllerSlot("damping", damping),
    }
    loop = ControlLoop(
        hardware,
        LimitStage(limits),
        slots,
        safe_chain=["damping"],
        update_rate=RATE,
    )
    loop.start("damping", 0.0)
    loop.request(SwitchRequest("standby", None, 1))
    return loop


def _member(names: tuple[str, ...], joints: JointSet, number: int) -> Member:
    count = len(names)
    ones = np.ones(count)
    info = HardwareInfo(
        name=f"mock_{number}",
        plugin="mock_components/GenericSystem",
        parameters={},
        joints=tuple(JointInfo(name, {}, 0.0) for name in names),
        limits=JointLimits(-3.0 * ones, 3.0 * ones, 4.0 * ones, 30.0 * ones),
        update_rate=RATE,
        urdf="",
    )
    return Member(
        info, GenericSystem(), joints.indices(names), JointState(count), JointCommand(count)
    )


def measure(joint_count: int, component_count: int, cycles: int) -> Figure:
    """Return the times of one cycle."""
    return figure(timed(loop_of(joint_count, component_count), cycles), "us", 1e6)


def measure_limited(cycles: int) -> dict[str, Figure]:
    """Return the times of one cycle in which no joint is limited, and in which one is."""
    found = {}
    for name, ahead in (("nothing", 0.0), ("one joint", 1.0)):
        controller = AheadController()
        controller.ahead = ahead
        loop = loop_of(14, 1, controller)
        samples = timed(loop, cycles)
        limited = int(loop.limits.counts.max(axis=0)[0])
        assert limited >= cycles - WARM_UP if ahead else not limited
        found[f"cycle, 14 joints, {name} limited"] = figure(samples, "us", 1e6)
    return found


def timed(loop: ControlLoop, cycles: int) -> FloatArray:
    """Return the durations [s] of cycles after a warm-up."""
    samples = np.empty(cycles)
    period = 1.0 / RATE
    clock = time.perf_counter
    gc.collect()
    for i in range(cycles):
        now = i * period
        begin = clock()
        loop.tick(now, period, lambda: 0.0)
        samples[i] = clock() - begin
    assert loop.snapshot.controller == "standby", "the loop left STANDBY: the figure would be wrong"
    return samples[WARM_UP:]


def measure_paced(joint_count: int, cycles: int) -> Figure:
    """Return the times of one cycle of a loop that sleeps between two."""
    loop = loop_of(joint_count, 1)
    samples = np.empty(cycles)
    clock = time.perf_counter
    gc.collect()
    start = before = time.monotonic()
    for i in range(cycles):
        time.sleep(max(0.0, start + (i + 1) * PACE - time.monotonic()))
        now = time.monotonic()
        begin = clock()
        loop.tick(now - start, now - before, lambda: 0.0)
        samples[i] = clock() - begin
        before = now
    assert loop.snapshot.controller == "standby", "the loop left STANDBY: the figure would be wrong"
    return figure(samples[min(WARM_UP, cycles // 2) :], "us", 1e6)


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    cycles = 2 * WARM_UP if options.quick else CYCLES
    figures = {
        f"cycle, {joints} joints, {components} component{'s' if components > 1 else ''}": measure(
            joints, components, cycles
        )
        for joints in (14, 112)
        for components in (1, 2)
    }
    figures |= measure_limited(cycles)
    paced = PACED_CYCLES // 10 if options.quick else PACED_CYCLES
    figures["cycle, 14 joints, 1 component, every 5 ms"] = measure_paced(14, paced)
    report("Control cycle (goal: 40 us for 14 joints, 60 us for 112)", figures, options.json)


if __name__ == "__main__":
    main()
