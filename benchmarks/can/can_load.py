"""Measure two CAN buses with seven Robstrides each at 200 to 500 Hz: load and processor time.

Lite's control process in DAMPING, without black box and viewer, against the virtual Lite with
bit-exact buses at 1 Mbit/s. A motor answers each command, so that a tick is 14 frames on each bus.
"Ticks" is the share of commands that a motor receives: a newer command replaces one that waits for
the bus, the adapter or the process. "Full" is the rate at which the measured frames would fill the
bus. The processes have serial adapters (slcan): at most 5 frames without an answer, and the virtual
adapter answers every 2 ms. "Simulated" is the stepped robot. Its adapters queue 10 frames as
SocketCAN does, and its processes take no time, so only the bus and the protocol are measured.

Jitter is |period - nominal| of the loop. CPU is in percent of one core. The start is
`hc up twin --robot NAME` to the first joint states; Prime's needs root.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import yaml
from sensor_msgs.msg import JointState

from benchmarks.support.figures import Figure, arguments, figure, report, single
from benchmarks.support.processes import client, peer, running
from benchmarks.support.program_runner import TIMEOUT, Running, isolated
from benchmarks.virtual_robot.virtual_robot import processor_time
from humanoid_bringup.executables import command_line
from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan
from humanoid_bringup.robot_package import RobotPackage, find_robot
from humanoid_control_common.rules.modes import Mode
from humanoid_stepped.robot import SteppedRobot, stepped_options
from humanoid_twin.can.commands import CanStatistics
from humanoid_twin.robot.control import RobotControl
from humanoid_twin.testing import Robot, robot

RATES = (200, 300, 500)  # [Hz]
SECONDS = 10.0  # at each rate
SIMULATED = 2.0  # the same on the stepped robot
OF_A_TICK = 14  # frames on a bus
SETTLING = 1.0  # [s] from the enabling of all motors on
STARTS = 5


def controllers_file(lite: RobotPackage, folder: Path, rate: int) -> Path:
    """Write the controllers file of the robot with another update rate. Return its path."""
    content = yaml.safe_load(lite.controllers_file.read_text("utf-8"))
    content["controller_manager"]["ros__parameters"]["update_rate"] = rate
    path = folder / "controllers.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def at_rate(rate: int, seconds: float) -> dict[str, Figure]:
    """Measure load, processor time and jitter at one rate [Hz]."""
    lite = find_robot("lite")
    with TemporaryDirectory(prefix="hc_benchmark_") as name, isolated():
        folder = Path(name)
        urdf, ticks = folder / "lite.urdf", folder / "ticks.json"
        urdf.write_text(lite.expand({}), "utf-8")
        with robot(urdf, lite.drives.virtual_robot) as virtual:
            options = Options(
                backend=Backend.REAL,
                robot=lite,
                can_interface="slcan",
                can_channel=",".join(f"{bus}={pty}" for bus, pty in virtual.cans.items()),
                controllers_file=controllers_file(lite, folder, rate),
                initial_mode=Mode.DAMPING,
                viewer=False,
                black_box=False,
            )
            (process,) = plan(options, folder)
            words = command_line(process)[1:]
            duration = str(seconds + 2.0 * SETTLING + 1.0)
            with running(peer("recorded_control", str(ticks), duration, *words)) as control:
                _wait_until_damped(virtual, control)
                time.sleep(SETTLING)
                figures = _observe(virtual, control, rate, seconds)
                control.finish(seconds + TIMEOUT)
        starts = np.array(json.loads(ticks.read_text("utf-8"))["starts"])
    periods = np.diff(starts)[-round(seconds * rate) :]
    jitter = np.abs(periods - 1.0 / rate)
    return {f"{rate} Hz: {name}": value for name, value in figures.items()} | {
        f"{rate} Hz: jitter": figure(jitter, "us", 1e6, tail=True)
    }


def _wait_until_damped(virtual: Robot, control: Running) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not all(
        motor["firmware"]["damping"] > 0.0
        for bus in virtual.cans
        for motor in virtual.control.bus(bus).can_drives().values()
    ):
        control.check()
        if time.monotonic() > deadline:
            raise RuntimeError(f"not damped within {TIMEOUT:g} s:\n{control.text()}")
        time.sleep(0.05)


def simulated(rate: int, seconds: float) -> dict[str, Figure]:
    """Measure load and ticks of both buses at one rate [Hz] on the stepped robot."""
    lite = find_robot("lite")
    with TemporaryDirectory(prefix="hc_benchmark_") as name:
        folder = Path(name)
        chosen = stepped_options(
            "lite",
            controllers_file=controllers_file(lite, folder, rate),
            initial_mode=Mode.DAMPING,
            black_box=False,
        )
        stepped = SteppedRobot(1, folder, chosen)
        stepped.start()
        stepped.scheduler.run_for(2.0 * SETTLING)
        before = _statistics(stepped.virtual.control, stepped.virtual.cans)
        stepped.scheduler.run_for(seconds)
        after = _statistics(stepped.virtual.control, stepped.virtual.cans)
    figures = _loads(before, after, rate)
    return {f"{rate} Hz simulated: {name}": value for name, value in figures.items()}


def _observe(virtual: Robot, control: Running, rate: int, seconds: float) -> dict[str, Figure]:
    pids = {"control": control.process.pid, "virtual robot": virtual.process.pid}
    used = {name: processor_time(pid) for name, pid in pids.items()}
    before, begun = _statistics(virtual.control, virtual.cans), time.monotonic()
    time.sleep(seconds)
    after, passed = _statistics(virtual.control, virtual.cans), time.monotonic() - begun
    cpu = {name: 100 * (processor_time(pid) - used[name]) / passed for name, pid in pids.items()}
    figures = {f"CPU, {name}": single(value, "%") for name, value in cpu.items()}
    return figures | _loads(before, after, rate)


def _statistics(control: RobotControl, buses: Iterable[str]) -> dict[str, CanStatistics]:
    return {bus: control.bus(bus).can_statistics() for bus in buses}


def _loads(
    before: Mapping[str, CanStatistics], after: Mapping[str, CanStatistics], rate: int
) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for bus, old in before.items():
        new = after[bus]
        span = new["time"] - old["time"]
        frames, load = (new["frames"] - old["frames"]) / span, (new["busy"] - old["busy"]) / span
        figures |= {
            f"{bus}, frames": single(frames, "1/s"),
            f"{bus}, load": single(100 * load, "%"),
            f"{bus}, ticks": single(100 * frames / (OF_A_TICK * rate), "%"),
            f"{bus}, full": single(frames / load / OF_A_TICK, "Hz"),
        }
    return figures


def start(name: str) -> float:
    """Return the time [s] from `hc up twin --robot NAME` to the first joint states."""
    with isolated(), client() as found:
        states: list[JointState] = []
        found.node.create_subscription(JointState, "/prime/joint_states", states.append, 10)
        with running(["hc", "up", "twin", "--robot", name, "--no-viewer"]) as process:
            found.spin_until(lambda: bool(states), "joint states", process)
            return (time.time_ns() - process.started) / 1e9


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = arguments(__doc__).parse_args(words)
    figures: dict[str, Figure] = {}
    for rate in RATES:
        figures |= at_rate(rate, 1.0 if options.quick else SECONDS)
        figures |= simulated(rate, 0.5 if options.quick else SIMULATED)
    for name in ("lite", "prime") if os.geteuid() == 0 else ("lite",):
        starts = [start(name) for _ in range(1 if options.quick else STARTS)]
        figures[f"start to joint states, {name}"] = figure(starts, "s")
    report("Two CAN buses with seven motors each", figures, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
