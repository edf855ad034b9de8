"""Faults of the robot's computer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from typing import Final

from fault_campaign.disturbing.cpu_hogs import ordinary, urgent
from fault_campaign.disturbing.small_disk import fill, make_room
from fault_campaign.disturbing.small_memory import ROOM, SCARCE
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.can import guarded
from fault_campaign.kinds.causes import HELD_UP
from fault_campaign.kinds.kind import (
    BLOCK,
    Allowed,
    Kind,
    Outcome,
    Recovery,
    RefutedError,
    RequiredRecord,
    Scene,
    every_joint,
    on_the_ring,
)
from fault_campaign.kinds.operators import STOP, let_go, stop
from fault_campaign.robot import MAIN, OPERATOR
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import STIFF
from fault_campaign.wall_robot import WallRobot
from humanoid_control_common.machine.realtime import LOOP_PRIORITY
from humanoid_controller_manager.reason_codes import (
    COMPONENT_FAILED,
)
from humanoid_controllers.reason_codes import EMERGENCY_STOP
from humanoid_devices_erob.reason_codes import (
    NO_FRAME_RETURNS,
)

_HOUR: Final = 3600  # [s]
_HOGS: Final = 6
_BURST: Final = 0.6  # [s]
_DYING: Final = 2.0  # [s] until a process that the kernel ends has disappeared
# SCHED_FIFO, above all threads of the stack (40) but the loop's (80).
_ABOVE_THE_REST: Final = 45


def _wall(scene: Scene) -> WallRobot:
    """Return the robot in wall time: these faults strike a real computer."""
    assert isinstance(scene.robot, WallRobot)
    return scene.robot


def _clock(seconds: int) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.step_clock(seconds)


def _link(state: str) -> Callable[[Scene], None]:
    def change(scene: Scene) -> None:
        interface = _wall(scene).virtual.interface
        subprocess.run(["ip", "link", "set", interface, state], check=True)

    return change


def _busy(scene: Scene) -> None:
    """Occupy all processors by programs without priority for a while."""
    ordinary(_HOGS, 0.8, scene.begins)


def _urgent(scene: Scene) -> None:
    """Occupy all processors by urgent programs; only the loop and the buses get time."""
    urgent(_ABOVE_THE_REST, _BURST, scene.begins)


def _starved(scene: Scene) -> None:
    """Occupy all processors by urgent programs; only the guard and the virtual robot get time."""
    urgent(LOOP_PRIORITY, _BURST, scene.begins)


def _runs_out(scene: Scene) -> None:
    robot = _wall(scene)
    stack = [program for label, program in robot.programs.items() if label != OPERATOR]
    robot.memory.run_out([process for it in stack for process in it.processes()], ROOM)


def _out_of_memory(scene: Scene) -> None:
    """Let the kernel end the control process. Raises RefutedError if it does not.

    No other process is in the group: the kernel would end it, too, as locked memory is freed
    slowly.
    """
    memory = _wall(scene).memory
    control = scene.robot.control.processes()[0]
    memory.give_up(control)
    memory.run_out([control], SCARCE)
    if not scene.robot.control.wait(_DYING):
        raise RefutedError("the memory didn't run out: the control process is still there")


def _fall_on_a_full_disk(scene: Scene) -> None:
    fill(_wall(scene).disk)
    stop(scene)


def _room_again(scene: Scene) -> None:
    make_room(_wall(scene).disk)
    let_go(scene)


_CATCHES_UP: Final = Allowed(
    ViolationType.JUMP,
    0.06,
    "targets that come late are caught up with at the full speed of a joint",
)
_urgently: Final = partial(
    Kind,
    within=1.0,
    spared=guarded,
    undamped=every_joint,
    starves=True,
    allowed=(_CATCHES_UP,),
    codes=HELD_UP,
)

KINDS: Final = (
    *(
        Kind(
            name=f"machine: clock stepped by {'+' if hours > 0 else '-'}1 h",
            inject=_clock(hours * _HOUR),
            mend=_clock(0),
            outcome=Outcome.STAYS,
            watched=0.8,
        )
        for hours in (1, -1)
    ),
    Kind(
        name="machine: disk full",
        kernel=True,
        inject=lambda scene: fill(_wall(scene).disk),
        mend=lambda scene: make_room(_wall(scene).disk),
        outcome=Outcome.STAYS,
        watched=0.6,
    ),
    Kind(
        name="machine: disk full, and the robot falls",
        kernel=True,
        quick=True,
        inject=_fall_on_a_full_disk,
        mend=_room_again,
        source=STOP,
        codes=(EMERGENCY_STOP,),
    ),
    Kind(
        name="machine: memory runs out for a while",
        kernel=True,
        inject=_runs_out,
        mend=lambda scene: _wall(scene).memory.release(),
        outcome=Outcome.EITHER,
        within=1.0,
        watched=0.6,
        codes=HELD_UP,
        undamped=every_joint,
        alone=True,
    ),
    Kind(
        name="machine: memory runs out, and the control process is ended",
        kernel=True,
        inject=_out_of_memory,
        mend=lambda scene: _wall(scene).memory.release(),
        outcome=Outcome.OFF,
        within=1.5,
        recovery=Recovery.RESTART,
        filed=RequiredRecord.END,
        dies=(MAIN,),
    ),
    _urgently(
        name="machine: urgent programs take the processors from all but the loop",
        kernel=True,
        inject=_urgent,
        outcome=Outcome.EITHER,  # the kernel reserves a part of each second for other processes
        starts=STIFF,
        watched=1.0,
    ),
    _urgently(
        name="machine: urgent programs take the processors from the loop, too",
        kernel=True,
        quick=True,
        inject=_starved,
        outcome=Outcome.OFF,
        watched=1.2,
    ),
    Kind(
        name="machine: other programs take the processors",
        kernel=True,
        inject=_busy,
        outcome=Outcome.EITHER,
        within=1.5,
        watched=1.0,
        starves=True,
        codes=HELD_UP,
        undamped=every_joint,
    ),
    Kind(
        name="machine: network interface of the ring down",
        kernel=True,
        quick=True,
        inject=_link("down"),
        mend=_link("up"),
        strikes=TargetJoint.RING,
        source=BLOCK,
        codes=(NO_FRAME_RETURNS, COMPONENT_FAILED),
        undamped=on_the_ring,
    ),
)
