"""The robot of a campaign in wall time: virtual robot, processes of the bring-up, observer."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from test_support.ros.ros_domains import on_reserved_domain

from fault_campaign.campaign_controllers import PLUGIN, write_controllers
from fault_campaign.disturbing.cpu_hogs import more_urgent
from fault_campaign.disturbing.fake_clock import FakeClock
from fault_campaign.disturbing.small_disk import small_disk
from fault_campaign.disturbing.small_memory import SmallMemory
from fault_campaign.judging.archive import Archive
from fault_campaign.judging.observer import observer
from fault_campaign.programs import TESTS, Program, UnexpectedEnd, deaths_of
from fault_campaign.robot import (
    BEAT,
    OPERATOR,
    Robot,
    Sabotage,
)
from fault_campaign.robot_joints import PRIME, RobotJoints
from humanoid_bringup.executables import command_line
from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan
from humanoid_control_common.machine.linux import LINUX
from humanoid_twin.testing import robot as virtual_robot

# SCHED_FIFO of the virtual robot, above the loop's 80: real drives need no processor of this
# machine, so the stack must not hold the virtual ones up.
DRIVES: Final = 90
_GUARD: Final = "humanoid_devices_can.guard"  # in its command line


class WallRobot(Robot):
    """See Robot. The robot is up while the context is open, on a ROS domain of its own."""

    machine = LINUX

    def __init__(
        self, folder: Path, sabotage: Sabotage | None = None, joints: RobotJoints = PRIME
    ) -> None:
        """Prepare the robot. `folder` is for files of the run. Needs root."""
        super().__init__(joints)
        self._sabotage = sabotage
        self.programs: dict[str, Program] = {}
        self._cleanup = ExitStack()
        self._folder = folder
        self.clock = FakeClock(folder)
        self.disk = folder / "disk"  # standard output of the processes
        self._children: dict[str, set[int]] = {}

    def __enter__(self) -> Self:
        with ExitStack() as cleanup:
            cleanup.enter_context(on_reserved_domain())
            urdf = self._folder / "virtual.urdf"
            urdf.write_text(self.joints.package.expand({}), encoding="utf-8")
            cleanup.enter_context(small_disk(self.disk))
            self.archive = cleanup.enter_context(Archive(self._ros_home / "black_box"))
            self.memory = SmallMemory()
            cleanup.callback(self.memory.release)
            actuators = self.joints.package.drives.virtual_robot
            self.virtual = cleanup.enter_context(
                virtual_robot(urdf, actuators, mailbox_delay_ms=2.0)
            )
            self.twin = self.virtual.control
            cleanup.enter_context(more_urgent(self.virtual.process.pid, DRIVES))
            self.observer = cleanup.enter_context(observer())
            self.programs = {program.label: program for program in self._programs()}
            cleanup.callback(self._end)
            self._start()
            self.healthy()
            self.refusals()
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()

    @property
    def _ros_home(self) -> Path:
        return self.disk / "ros"

    def date(self) -> float:
        """See Robot: the processes may have another clock."""
        return time.time()

    def held_up(self) -> float:
        """See Robot."""
        return max((length for _, length in self.twin.pauses()), default=0.0)

    def signal_guard(self, bus: str, number: signal.Signals) -> None:
        """See Robot: each robot in wall time has guards on one bus only."""
        for process in self.control.processes(_GUARD):
            os.kill(process, number)

    def step_clock(self, seconds: float) -> None:
        """See Robot."""
        self.clock.step(round(seconds))

    def _deaths_of_children(self) -> list[UnexpectedEnd]:
        """See Robot."""
        before, self._children = self._children, self._census()
        return deaths_of(before, self._children)

    def _census(self) -> dict[str, set[int]]:
        """Return the children of each program, by "LABEL PID" of that."""
        found = {}
        for program in self.programs.values():
            if program.runs:
                own, *children = program.processes()
                found[f"{program.label} {own}"] = set(children)
        return found

    def _programs(self) -> list[Program]:
        package = self.joints.package
        options = Options(
            backend=Backend.REAL,
            robot=package,
            ethercat_interface=self.virtual.interface,
            can_interface="slcan",
            can_channel=",".join(f"{bus}={pty}" for bus, pty in self.virtual.cans.items()),
            viewer=False,
            controllers_file=write_controllers(self._folder, self.joints),
            heartbeats={OPERATOR: BEAT},
        )
        path = os.pathsep.join([str(PLUGIN), str(TESTS), os.environ.get("PYTHONPATH", "")])
        environment = {
            "PYTHONPATH": path,
            "PYTHONUNBUFFERED": "1",
            "ROS_HOME": str(self._ros_home),
            **self.clock.environment,
        }
        # The first process to start is the last to end: an end must not look like a fault.
        commands = {OPERATOR: ["hc", "heartbeat", OPERATOR]}
        commands |= {it.label: command_line(it) for it in plan(options, self._folder)}
        if self._sabotage is not None:
            label, defect = self._sabotage.label, self._sabotage.defect
            sabotage = [sys.executable, "-m", "fault_campaign.disturbing.sabotage", defect]
            commands[label] = [*sabotage, *commands[label]]
        return [Program(it, words, self._folder, environment) for it, words in commands.items()]
