"""Measure the cost of the simulation compared with its physics alone, on Prime's model.

* Steps per second of the ROS-free MujocoSystem (read, write: five physics steps of 1 ms per call)
  in turns with a bare loop that evaluates the same MIT law with numpy before every `mj_step` and
  hands it over in `qfrc_applied`, on the same model (goal: 0.7 times). Both must arrive at the same
  positions, else the benchmark fails. Beside them `mj_step` alone, with the last command held.
* Simulated seconds per wall second of the whole control process without pacing, from /clock in
  another process (goal: 20), in windows of half a second; p99 is the best of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np
from numpy.typing import NDArray
from rosgraph_msgs.msg import Clock

from benchmarks.support.figures import Figure, arguments, figure, ratio, report
from benchmarks.support.processes import BenchmarkError, client, control, running
from benchmarks.support.program_runner import isolated
from humanoid_bringup.options import Backend
from humanoid_bringup.plan import SIMULATION_UPDATE_RATE
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controller_manager.hardware_component import HardwareInfo
from humanoid_devices_mujoco.mujoco_system import MujocoSystem
from prime_description import expand

PERIOD = 1.0 / SIMULATION_UPDATE_RATE  # [s]
CHUNK = 400  # control periods, in turns: 2 s of simulated time
CHUNKS = 40
TOLERANCE = 1e-6  # [rad] after the first chunk, rounding apart
WINDOWS = 20  # of the whole process, 0.5 s each
WINDOW = 0.5  # [s]


def configured(info: HardwareInfo) -> tuple[MujocoSystem, JointState]:
    """An activated simulation and its state."""
    system, state = MujocoSystem(), JointState(len(info.joints))
    system.on_configure(info)
    system.on_activate(state)
    return system, state


def command_of(joint_count: int) -> JointCommand:
    """Return an MIT command that moves the arms and holds them, with all five interfaces."""
    command = JointCommand(joint_count)
    command.position[:] = 0.1
    command.velocity[:] = 0.05
    command.effort[:] = 0.1
    command.stiffness[:] = 20.0
    command.damping[:] = 2.0
    return command


class SystemOfLoop:
    """MujocoSystem as the control loop uses it."""

    def __init__(self, info: HardwareInfo, command: JointCommand) -> None:
        self.system, self.state = configured(info)
        self.command = command
        self.now = 0.0

    def __call__(self) -> None:
        """Run one control period."""
        self.system.read(self.state, self.now, PERIOD)
        self.system.write(self.command, self.now, PERIOD)
        self.now += PERIOD

    def positions(self) -> NDArray[np.float64]:
        """Return the joints' positions [rad]."""
        self.system.read(self.state, self.now, PERIOD)
        return self.state.position


class PlainSteps:
    """A plain mj_step loop; the model's own actuators stay without command."""

    def __init__(self, info: HardwareInfo, command: JointCommand) -> None:
        system, _ = configured(info)
        self.model, self.data, self.command = system.model, system.data, command
        joints = [self.model.joint(joint.name) for joint in info.joints]
        self.rows = np.array([joint.qposadr[0] for joint in joints])
        self.columns = np.array([joint.dofadr[0] for joint in joints])
        self.limit = info.limits.effort
        self.steps = round(PERIOD / self.model.opt.timestep)

    def __call__(self) -> None:
        """Run one control period."""
        model, data, command = self.model, self.data, self.command
        for _ in range(self.steps):
            effort = (
                command.stiffness * (command.position - data.qpos[self.rows])
                + command.damping * (command.velocity - data.qvel[self.columns])
                + command.effort
            )
            data.qfrc_applied[self.columns] = np.clip(effort, -self.limit, self.limit)
            mujoco.mj_step(model, data)

    def positions(self) -> NDArray[np.float64]:
        """Return the joints' positions [rad]."""
        positions: NDArray[np.float64] = self.data.qpos[self.rows]
        return positions


class MujocoAlone:
    """MuJoCo alone: the actuators hold one command."""

    def __init__(self, info: HardwareInfo, command: JointCommand) -> None:
        system, _ = configured(info)
        system.write(command, 0.0, PERIOD)
        self.model, self.data = system.model, system.data
        self.steps = round(PERIOD / self.model.opt.timestep)

    def __call__(self) -> None:
        """Run one control period."""
        mujoco.mj_step(self.model, self.data, self.steps)


def physics(chunks: int) -> dict[str, Figure]:
    """Measure steps per second of the loops above."""
    urdf = expand({"use_sim": "true", "real_time_factor": "0"})
    info = parse_robot_description(urdf, SIMULATION_UPDATE_RATE).blocks[0]
    command = command_of(len(info.joints))
    ours, bare, floor = (
        SystemOfLoop(info, command),
        PlainSteps(info, command),
        MujocoAlone(info, command),
    )
    loops: dict[str, Callable[[], None]] = {"ours": ours, "bare": bare, "floor": floor}
    rates: dict[str, list[float]] = {name: [] for name in loops}
    for chunk in range(chunks):
        for name, advance in loops.items():
            begin = time.perf_counter()
            for _ in range(CHUNK):
                advance()
            rates[name].append(CHUNK * bare.steps / (time.perf_counter() - begin))
        if chunk == 0:
            apart = float(np.abs(ours.positions() - bare.positions()).max())
            if not apart < TOLERANCE:
                raise BenchmarkError(f"not the same torque law: {apart:g} rad apart after 2 s")
    values = {name: figure(samples, "steps/s") for name, samples in rates.items()}
    return {
        "MujocoSystem": values["ours"],
        "bare mj_step and numpy": values["bare"],
        "MujocoSystem, ratio": ratio(values["ours"], values["bare"]),
        "mj_step alone": values["floor"],
    }


def whole_process(folder: Path, windows: int) -> Figure:
    """Measure simulated seconds per wall second of the control process."""
    latest: list[float] = []

    def receive(message: Clock) -> None:
        latest[:] = [time.perf_counter(), message.clock.sec + message.clock.nanosec * 1e-9]

    factors = []
    command = control(folder, Backend.MUJOCO, SIMULATION_UPDATE_RATE)
    with isolated(), client() as node:
        node.node.create_subscription(Clock, "/clock", receive, 1)
        with running(command) as process:
            node.spin_until(lambda: bool(latest), "/clock", process)
            node.spin_for(1.0, process)
            for _ in range(windows):
                wall, simulated = latest
                node.spin_for(WINDOW, process)
                factors.append((latest[1] - simulated) / (latest[0] - wall))
    return figure(factors, "x real time")


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    chunks, windows = (2, 2) if options.quick else (CHUNKS, WINDOWS)
    figures = physics(chunks)
    with TemporaryDirectory() as folder:
        figures["control process, unpaced"] = whole_process(Path(folder), windows)
    report("Simulation (goals: ratio 0.7, control process 20)", figures, options.json)


if __name__ == "__main__":
    main()
