"""The whole robot: the virtual robot, the processes of its bring-up, and an observer."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from test_support.operator import be_on_a_free_domain

from fault_campaign.campaign_controllers import PLUGIN, write_controllers
from fault_campaign.disturbing.cpu_hogs import more_urgent
from fault_campaign.disturbing.fake_clock import FakeClock
from fault_campaign.disturbing.small_disk import small_disk
from fault_campaign.disturbing.small_memory import SmallMemory
from fault_campaign.judging.archive import Archive
from fault_campaign.judging.observer import Observer
from fault_campaign.judging.process_ends import Ends
from fault_campaign.programs import TESTS, Program, deaths_of
from humanoid_bringup.executables import command_line
from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan
from humanoid_control_common.modes import Mode
from humanoid_controllers.mode_manager.rest_watch import SLOW
from humanoid_twin.prime import JOINTS
from humanoid_twin.testing import robot as virtual_robot
from prime_description import expand

UP: Final = 60.0  # [s] until a control process that was started has joint states
HEALTHY: Final = 15.0  # [s] until faults can be cleared
MAIN: Final = "control"
BOX: Final = "black_box"
OPERATOR: Final = "operator"  # whose heartbeat the robot waits for
BEAT: Final = 1.5  # [s] it may be silent: longer than what holds ROS up here
# SCHED_FIFO of the virtual robot, above the loop's 80: real drives need no processor of this
# machine, so nothing of the stack may hold them up.
DRIVES: Final = 90
NO_ANSWER: Final = "no answer"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Of clear_fault."""

    at: float  # [s] monotonic
    text: str
    codes: tuple[str, ...] = ()  # empty: no answer


@dataclass(frozen=True, slots=True)
class Sabotage:
    """A defect that one program has."""

    label: str
    defect: str  # of `fault_campaign.disturbing.sabotage`


class NotHealthyError(Exception):
    """The robot can't be brought into DAMPING without a fault."""


class Robot:
    """Up while it is open; on a ROS domain of its own."""

    def __init__(self, folder: Path, sabotage: Sabotage | None = None) -> None:
        """`folder` is for files of the run. Needs root."""
        self._sabotage = sabotage
        self.programs: dict[str, Program] = {}
        self._cleanup = ExitStack()
        self._folder = folder
        self.clock = FakeClock(folder)
        self.disk = folder / "disk"  # where the processes write
        self._refusals: list[Refusal] = []
        self._children: dict[str, set[int]] = {}

    def __enter__(self) -> Self:
        with ExitStack() as cleanup:
            be_on_a_free_domain(os.environ.__setitem__)
            urdf = self._folder / "virtual.urdf"
            urdf.write_text(expand({}), encoding="utf-8")
            cleanup.enter_context(small_disk(self.disk))
            self.archive = cleanup.enter_context(Archive(self._ros_home / "black_box"))
            self.memory = SmallMemory()
            cleanup.callback(self.memory.release)
            self.virtual = cleanup.enter_context(virtual_robot(urdf, mailbox_delay_ms=2.0))
            self.twin = self.virtual.control
            cleanup.enter_context(more_urgent(self.virtual.process.pid, DRIVES))
            self.observer = cleanup.enter_context(Observer())
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
    def control(self) -> Program:
        """The control process."""
        return self.programs[MAIN]

    @property
    def _ros_home(self) -> Path:
        return self.disk / "ros"

    def restart(self) -> None:
        """End all processes in order, and start them again. Raises NotHealthyError."""
        self._end()
        self._start()

    def healthy(self) -> None:
        """DAMPING, confirmed and without a fault, whatever was before. Raises NotHealthyError."""
        observer = self.observer
        if not all(program.runs for program in self.programs.values()):
            self.restart()
        damped = observer.comes_to(Mode.DAMPING, HEALTHY)
        cleared = observer.within(HEALTHY, self._clear)
        if not (cleared and observer.within(HEALTHY, self._well)):
            obeyed = f"DAMP obeyed: {damped}, faults cleared: {cleared}"
            found = f"{observer.now.status_message!r}, {self.ailing()}, {obeyed}"
            raise NotHealthyError(f"mode {observer.now.mode}: {found}")

    def held_up(self) -> float:
        """Longest time [s] this machine had none for the virtual robot, since the last call."""
        return max((length for _, length in self.twin.pauses()), default=0.0)

    def ends(self) -> Ends:
        """Return ends and exceptions of the processes since the last call."""
        programs = list(self.programs.values())
        deaths = [death for program in programs for death in program.deaths()]
        before, self._children = self._children, self._census()
        deaths += deaths_of(before, self._children)
        return Ends(
            deaths,
            [it for program in programs for it in program.stuck()],
            [f"{it.label}: {text}" for it in programs for text in it.exceptions()],
        )

    def refusals(self) -> list[Refusal]:
        """Of clear_fault, since the last call."""
        found, self._refusals = self._refusals, []
        return found

    def record(self) -> None:
        """Start the black box, if it doesn't run, and wait until it watches. NotHealthyError."""
        self.observer.recording = False
        self.programs[BOX].start()
        # One that is ended while it starts would leave what is in the memory to the next one.
        if not self.observer.within(UP, lambda: self.observer.recording):
            raise NotHealthyError(f"the black box did not start: {self.programs[BOX].text()}")

    def ailing(self) -> list[str]:
        """Return the drives' obstacles to health."""
        erobs = [f"drive {i}: 0x{drive['error']:04X}" for i, drive in enumerate(self.twin.drives())
                 if drive["error"]]  # fmt: skip
        sitos = [f"motor {i}" for i, motor in self.twin.can_drives().items()
                 if motor["firmware"]["faults"] or not motor["firmware"]["enabled"]]  # fmt: skip
        return erobs + sitos

    def pass_until(self, time: float) -> None:
        """Listen until a time of the robot [s]."""
        self.observer.within(UP, lambda: self.twin.time() >= time)

    def at_rest(self) -> bool:
        """Return True if no arm is sinking: a raised arm that is made limp falls freely."""
        return all(abs(joint["velocity"]) < SLOW for joint in self.twin.joints().values())

    def unload(self) -> None:
        """Hands off."""
        for joint in JOINTS:
            self.twin.external_torque(joint, 0.0)

    def _clear(self) -> bool:
        answer = self.observer.try_to_clear(2.0)
        if answer is not None and answer.success:
            return True
        now = time.monotonic()
        if answer is None:
            self._refusals.append(Refusal(now, NO_ANSWER))
        else:
            self._refusals.append(Refusal(now, answer.message, tuple(answer.reason_codes)))
        return False

    def _census(self) -> dict[str, set[int]]:
        """Return the processes that each program has started, by its label and process id."""
        found = {}
        for program in self.programs.values():
            if program.runs:
                own, *children = program.processes()
                found[f"{program.label} {own}"] = set(children)
        return found

    def _well(self) -> bool:
        observer = self.observer
        return observer.now.mode == Mode.DAMPING and observer.confirmed() and not self.ailing()

    def _programs(self) -> list[Program]:
        options = Options(
            backend=Backend.REAL,
            ethercat_interface=self.virtual.interface,
            can_interface="slcan",
            can_channel=str(self.virtual.can),
            viewer=False,
            controllers_file=write_controllers(self._folder),
            heartbeats={OPERATOR: BEAT},
        )
        path = os.pathsep.join([str(PLUGIN), str(TESTS), os.environ.get("PYTHONPATH", "")])
        environment = {
            "PYTHONPATH": path,
            "PYTHONUNBUFFERED": "1",
            "ROS_HOME": str(self._ros_home),
            **self.clock.environment,
        }
        # First to start is last to end: the robot must not take its end for a fault.
        commands = {OPERATOR: ["hc", "heartbeat", OPERATOR]}
        commands |= {it.label: command_line(it) for it in plan(options, self._folder)}
        if self._sabotage is not None:
            label, defect = self._sabotage.label, self._sabotage.defect
            sabotage = [sys.executable, "-m", "fault_campaign.disturbing.sabotage", defect]
            commands[label] = [*sabotage, *commands[label]]
        return [Program(it, words, self._folder, environment) for it, words in commands.items()]

    def _start(self) -> None:
        observer = self.observer
        observer.listen_anew()
        for program in self.programs.values():
            program.start()
        up = observer.within(
            UP, lambda: (observer.statements and observer.joint_states) or not self.control.runs
        )
        if not (up and self.control.runs):
            raise NotHealthyError(f"the control process did not start:\n{self._ending()}")
        self.record()

    def _end(self) -> None:
        for program in reversed(self.programs.values()):
            program.end()

    def _ending(self) -> str:
        return "\n".join(self.control.text().splitlines()[-15:])
