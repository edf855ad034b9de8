"""Measure the real bring-up with the virtual robot: time until it is up, latency of a command.

`hc up twin` is timed from its start to the first /prime/joint_states and to STANDBY in force
(requested as soon as the impedance manager allows it). Then, in REMOTE at the robot's 50 Hz, a
command on the topic changes at random phases, and the latency is the time until the torque at the
joint of the virtual robot changes: a feed-forward effort on a wrist, a position on an elbow, whose
drive only follows positions. It includes up to one period of the loop. CPU is that of the processes
meanwhile, in percent of one core. Needs root.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from humanoid_control_msgs.msg import ControlMode, MITCommand, StandbyState
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from benchmarks.support.figures import Figure, arguments, figure, note, report, single
from benchmarks.support.processes import Client, client, running
from benchmarks.support.program_runner import Running, isolated
from benchmarks.virtual_robot.virtual_robot import processor_time
from humanoid_bringup.executables import command_line
from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_twin.physics.recorder import Recording
from humanoid_twin.testing import Robot, robot
from prime_description import expand

STARTS = 8
FALLS = 4  # repetitions of starts, and of latencies
CHANGES = 100
STREAM = 0.01  # [s] between two commands; REMOTE takes 0.1 s without any for an end
WRIST, ARM = "left_wrist_roll", "right_elbow_pitch"
EFFORT, ANGLE = 0.4, 0.03  # [Nm], [rad] by which the commands change
NOTICED = {WRIST: 0.2, ARM: 0.2}  # [Nm] of change at the joint
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class FallenError(Exception):
    """The robot fell to DAMPING as the machine delayed a bus; the measurement is repeated."""


class Operator:
    """Subscribes to the robot's state and requests modes."""

    def __init__(self, found: Client) -> None:
        self.found = found
        self.states: list[JointState] = []
        self.statement: ControlMode | None = None
        self.finished = False
        self._requests = found.node.create_publisher(ControlMode, "/control_mode", 10)
        found.node.create_subscription(JointState, "/prime/joint_states", self._joints, 10)
        found.node.create_subscription(ControlMode, "/control_mode", self._mode, 10)
        found.node.create_subscription(
            StandbyState, "/standby_controller/state", self._progress, LATCHED
        )

    def reach(self, mode: Mode, process: Running) -> None:
        """Repeat the request until `mode` is in force."""
        requested = 0.0

        def there() -> bool:
            nonlocal requested
            self._check()
            if time.monotonic() > requested + 0.02:
                requested = time.monotonic()
                self._requests.publish(ControlMode(mode=int(mode)))
            return self.statement is not None and self.statement.mode == mode

        self.found.spin_until(there, mode.name, process)

    def has_finished(self) -> bool:
        """Return whether STANDBY has come to its end. Raises FallenError."""
        self._check()
        return self.finished

    def _check(self) -> None:
        if self.statement is not None and FELL_TO_SAFETY.name in self.statement.reason_codes:
            raise FallenError(self.statement.status_message)

    def _joints(self, message: JointState) -> None:
        self.states = [message]

    def _mode(self, message: ControlMode) -> None:
        if message.controller_name:
            self.statement = message

    def _progress(self, message: StandbyState) -> None:
        self.finished = message.is_finished


def starts(count: int) -> dict[str, Figure]:
    """Measure from `hc up twin` to joint states and to STANDBY."""
    pairs: list[tuple[float, float]] = []
    falls = 0
    while len(pairs) < count:
        try:
            pairs.append(_start())
        except FallenError as error:
            falls = _counted(falls, f"a start is done again: {error}")
    up, stiff = zip(*pairs, strict=True)
    return {
        "start to joint states": figure(up, "s"),
        "start to STANDBY": figure(stiff, "s"),
        "starts that fell and were done again": single(falls, "starts"),
    }


def _counted(falls: int, text: str) -> int:
    """Count a fall. Raises RuntimeError if there are too many."""
    note(text)
    if falls == FALLS:
        raise RuntimeError(f"more than {FALLS} falls: {text}")
    return falls + 1


def _start() -> tuple[float, float]:
    with isolated(), client() as found:
        operator = Operator(found)
        with running(["hc", "up", "twin", "--no-viewer"]) as process:
            found.spin_until(lambda: bool(operator.states), "joint states", process)
            up = (time.time_ns() - process.started) / 1e9
            operator.reach(Mode.DAMPING, process)
            operator.reach(Mode.STANDBY, process)
            stiff = (time.time_ns() - process.started) / 1e9
            operator.reach(Mode.DAMPING, process)
    return up, stiff


@contextmanager
def brought_up(virtual: Robot, folder: Path) -> Iterator[dict[str, Running]]:
    """Return the processes of the real bring-up."""
    options = Options(
        backend=Backend.REAL,
        ethercat_interface=virtual.interface,
        can_interface="slcan",
        can_channel=str(virtual.can),
        viewer=False,
        black_box=False,
    )
    manager, control = plan(options, folder)
    with running(command_line(manager)) as second, running(command_line(control)) as first:
        yield {"control": first, "impedance": second}


def latencies(count: int) -> dict[str, Figure]:
    """Measure from a command on the topic to torque at the joint, and CPU meanwhile."""
    with TemporaryDirectory(prefix="hc_benchmark_") as name, isolated(), client() as found:
        folder = Path(name)
        urdf = folder / "prime.urdf"
        urdf.write_text(expand({}), "utf-8")
        with robot(urdf) as virtual, brought_up(virtual, folder) as processes:
            operator, control = Operator(found), processes["control"]
            found.spin_until(lambda: bool(operator.states), "joint states", control)
            operator.reach(Mode.DAMPING, control)
            operator.reach(Mode.STANDBY, control)
            found.spin_until(operator.has_finished, "ready pose", control)
            operator.reach(Mode.REMOTE, control)
            return _measure(virtual, operator, processes, count)


def _measure(
    virtual: Robot, operator: Operator, processes: dict[str, Running], count: int
) -> dict[str, Figure]:
    stream = operator.found.node.create_publisher(
        MITCommand, "/remote_policy_controller/command", 4
    )
    operator.found.spin_until(
        lambda: stream.get_subscription_count() > 0, "listener", processes["control"]
    )
    message = _holding(operator.states[-1])
    wrist, arm = message.joint_names.index(WRIST), message.joint_names.index(ARM)
    pids = {name: one.process.pid for name, one in processes.items()}
    pids["robot"] = virtual.process.pid
    used = {name: processor_time(pid) for name, pid in pids.items()}
    begun, simulated = time.monotonic(), virtual.control.time()
    virtual.control.record(count * 0.5 + 5.0)
    sent, sign = [], 1.0
    for _ in range(count):
        sign = -sign
        message.effort[wrist] += sign * EFFORT
        message.position[arm] += sign * ANGLE
        for step in range(random.randrange(25, 35)):
            if step == 0:
                time.sleep(random.uniform(0.0, STREAM))
                sent.append(time.monotonic())
            stream.publish(message)
            operator.found.spin_for(STREAM, processes["control"])
    passed = time.monotonic() - begun
    figures = {}
    for kind, name in (("wrist (CAN)", WRIST), ("arm (EtherCAT)", ARM)):
        times = delays(virtual.control.recorded(), virtual.control.epoch(), name, sent)
        figures[f"command to torque, {kind}"] = figure(times, "ms", 1e3)
        missed = single(len(sent) - len(times), f"of {len(sent)}")
        figures[f"commands without a change of torque, {kind}"] = missed
    for name, pid in pids.items():
        figures[f"CPU, {name}"] = single(100 * (processor_time(pid) - used[name]) / passed, "%")
    pace = (virtual.control.time() - simulated) / passed
    return figures | {"real-time factor": single(pace, "x")}


def _holding(state: JointState) -> MITCommand:
    count = len(state.name)
    return MITCommand(
        joint_names=list(state.name),
        position=list(state.position),
        velocity=[0.0] * count,
        effort=[0.0] * count,
        stiffness=[20.0] * count,
        damping=[2.0] * count,
    )


def delays(truth: Recording, epoch: float, name: str, sent: Sequence[float]) -> list[float]:
    """Return the times [s] from each command to the first millisecond with another torque."""
    clock, torque = truth.time + epoch, truth.torque[:, truth.names.index(name)]
    found = []
    for moment in sent:
        begin = int(np.searchsorted(clock, moment))
        after = torque[begin : begin + 200]
        changed = np.flatnonzero(np.abs(after - torque[begin - 1]) > NOTICED[name])
        if changed.size:
            found.append(float(clock[begin + int(changed[0])] - moment))
    if len(found) < len(sent) / 2:
        raise RuntimeError(f"{name}: only {len(found)} of {len(sent)} commands changed its torque")
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = arguments(__doc__).parse_args(words)
    figures = starts(1 if options.quick else STARTS)
    falls = 0
    while True:
        try:
            figures |= latencies(6 if options.quick else CHANGES)
            break
        except FallenError as error:
            falls = _counted(falls, f"the latencies are measured again: {error}")
    figures["latencies that fell and were measured again"] = single(falls, "times")
    report("The whole robot", figures, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
