"""How the processes of a launch end: who may, who takes the rest along, and who is last.

Only what is native: `launching` imports this.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from launch.actions import (
    EmitEvent,
    ExecuteProcess,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
    TimerAction,
)
from launch.event_handlers import OnProcessExit, OnProcessStart, OnShutdown
from launch.events.matchers import matches_action
from launch.events.process import ProcessExited, SignalProcess
from launch.substitutions import LaunchConfiguration

from humanoid_bringup_prime.options import Process
from humanoid_control_common.errors import RobotError
from launch import Action, LaunchContext

# Before a program: SIGINT has no effect until the program says what it shall do. A Python that is
# still importing would answer it with a traceback, and some with exit code 1. `--launch-prefix`
# of the command line takes its place.
DEAF: Final = LaunchConfiguration("launch-prefix", default='sh -c \'trap "" INT; exec "$0" "$@"\'')
# A process that is asked to end before it catches signals ends by them.
_AS_ASKED: Final = (0, -signal.SIGINT, -signal.SIGTERM)

OnExit = Callable[[ProcessExited, LaunchContext], Sequence[Action]]


class ProcessFailedError(RobotError):
    """A required process has failed: `ros2 launch` shall, too."""


def when_ended(process: Process) -> OnExit | None:
    """What to do when `process` has ended: if it is required, end the rest.

    If it has failed, the launch ends with exit code 1 and says so; upstream's own Shutdown action
    would have it end with 0.
    """

    def ended(event: ProcessExited, context: LaunchContext) -> Sequence[Action]:
        if event.returncode in _AS_ASKED and context.is_shutdown:
            return []
        if event.returncode == 0:
            return [Shutdown(reason=f"{process.label} ended")]
        return [_fail(f"{process.label} failed: {_status(event.returncode)}")]

    return ended if process.required else None


def _fail(message: str) -> Action:
    """Raise, but not while the end of a process is still told to others."""

    def fail(_context: LaunchContext) -> None:
        raise ProcessFailedError(message)

    raising = OpaqueFunction(function=fail)
    return TimerAction(period=0.0, actions=[raising], cancel_on_shutdown=False)


def _status(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def end_at_once(action: ExecuteProcess) -> list[Action]:
    """Have `action`, started DEAF, end by SIGTERM if it is to end before it listens to SIGINT."""

    def look(_event: object, context: LaunchContext) -> list[Action]:
        ends = context.is_shutdown and _is_running(action)
        deaf = ends and not _minds_signals(action.process_details["pid"])
        return [_terminate(action)] if deaf else []

    started = OnProcessStart(target_action=action, on_start=look)
    return [RegisterEventHandler(handler) for handler in (OnShutdown(on_shutdown=look), started)]


def outlive(action: ExecuteProcess, others: Sequence[Action]) -> list[Action]:
    """Have `action`, which ignores SIGINT, end after `others`, which need it to end in order.

    Launch itself asks all processes at once.
    """
    users = [other for other in others if isinstance(other, ExecuteProcess)]

    def look(_event: object, context: LaunchContext) -> list[Action]:
        in_use = any(user.process_details and user.return_code is None for user in users)
        ends = context.is_shutdown and _is_running(action) and not in_use
        return [_terminate(action)] if ends else []

    ends = [OnProcessExit(target_action=user, on_exit=look) for user in users]
    started = OnProcessStart(target_action=action, on_start=look)
    handlers = (OnShutdown(on_shutdown=look), started, *ends)
    return [RegisterEventHandler(handler) for handler in handlers]


def _terminate(action: ExecuteProcess) -> Action:
    matcher = matches_action(action)
    return EmitEvent(event=SignalProcess(signal_number=signal.SIGTERM, process_matcher=matcher))


def _is_running(action: ExecuteProcess) -> bool:
    """Whether it has been started, and has not ended."""
    started = action.process_details and "pid" in action.process_details
    return bool(started) and action.return_code is None


def _minds_signals(process: int) -> bool:
    """Whether a program of ours has said what it does with signals: it does so for all at once."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:  # it has ended meanwhile
        return True
    lines = [line.split() for line in status.splitlines()]
    masks = [int(words[1], 16) for words in lines if words[0] in ("SigCgt:", "SigIgn:")]
    return any(mask >> (signal.SIGTERM - 1) & 1 for mask in masks)
