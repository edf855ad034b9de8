"""End the processes of a launch in the right order, and all of them when a required one ends.

Needs ROS 2's launch system.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from types import FrameType
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

from humanoid_bringup.options import Process
from humanoid_bringup.supervision.processes import catches, describe
from humanoid_control_common.errors import RobotError
from launch import Action, LaunchContext

# Before a program: SIGINT has no effect until the program installs a handler. A Python that is
# still importing would answer it with a traceback, and some with exit code 1. `--launch-prefix`
# of the command line takes its place.
IGNORE_SIGINT: Final = LaunchConfiguration(
    "launch-prefix", default='sh -c \'trap "" INT; exec "$0" "$@"\''
)
# A process that has no handlers yet ends by the signal.
_AS_ASKED: Final = (0, -signal.SIGINT, -signal.SIGTERM)

OnExit = Callable[[ProcessExited, LaunchContext], Sequence[Action]]


class ProcessFailedError(RobotError):
    """A required process has failed, and with it the launch."""


def when_ended(process: Process) -> OnExit | None:
    """Return the reaction to the end of `process`: if it is required, end the rest.

    If it has failed, the launch ends with exit code 1 and a message; upstream's own Shutdown action
    would have it end with 0.
    """

    def ended(event: ProcessExited, context: LaunchContext) -> Sequence[Action]:
        if event.returncode in _AS_ASKED and context.is_shutdown:
            return []
        if event.returncode == 0:
            return [Shutdown(reason=f"{process.label} ended")]
        return [_fail(f"{process.label} failed: {describe(event.returncode)}")]

    return ended if process.required else None


def keep_interrupts_out(context: LaunchContext) -> None:
    """Let SIGINT reach launch by its descriptor only, not as a KeyboardInterrupt as well.

    Raised while launch starts a process, KeyboardInterrupt would make launch lose that process and
    never return.
    """
    loop, main = context.asyncio_loop, threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if not loop.is_running():  # launch has ended
            signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, handle)


def _fail(message: str) -> Action:
    """Return an action that raises, after all handlers of the process's end have run."""

    def fail(_context: LaunchContext) -> None:
        raise ProcessFailedError(message)

    raising = OpaqueFunction(function=fail)
    return TimerAction(period=0.0, actions=[raising], cancel_on_shutdown=False)


def terminate_without_handler(action: ExecuteProcess) -> list[Action]:
    """Let the shutdown end `action` by SIGTERM if its program has no handler for SIGINT yet.

    `action` is started with IGNORE_SIGINT, so that the SIGINT of launch has no effect on it.
    """
    end = _terminated_once(action, lambda: not _catches_signals(action.process_details["pid"]))
    started = OnProcessStart(target_action=action, on_start=_in_shutdown(end))
    return [RegisterEventHandler(handler) for handler in (_at_shutdown(end), started)]


def end_after(action: ExecuteProcess, users: Sequence[ExecuteProcess]) -> list[Action]:
    """Let the shutdown end `action`, which ignores SIGINT, when all `users` of it have ended.

    Launch itself signals all processes at once.
    """
    end = _terminated_once(action, lambda: not any(map(_is_running, users)))
    end_in_shutdown = _in_shutdown(end)
    ends = [OnProcessExit(target_action=user, on_exit=end_in_shutdown) for user in users]
    started = OnProcessStart(target_action=action, on_start=end_in_shutdown)
    return [RegisterEventHandler(handler) for handler in (_at_shutdown(end), started, *ends)]


def _at_shutdown(end: Callable[[], list[Action]]) -> OnShutdown:
    """Return the handler that calls `end` when the shutdown begins.

    Launch calls it before `is_shutdown` is set if the action Shutdown has begun the shutdown.
    """
    return OnShutdown(on_shutdown=lambda _event, _context: end())


def _in_shutdown(
    end: Callable[[], list[Action]],
) -> Callable[[object, LaunchContext], list[Action]]:
    """Return `end` for events that also happen before the shutdown: there it has no effect."""
    return lambda _event, context: end() if context.is_shutdown else []


def _terminated_once(
    action: ExecuteProcess, may_end: Callable[[], bool]
) -> Callable[[], list[Action]]:
    """Return a function whose first call while `action` runs and `may_end` terminates it.

    A signal to a process that has just ended would make Python take the exit code from launch,
    which then reports 255.
    """
    asked = False

    def end() -> list[Action]:
        nonlocal asked
        if asked or not _is_running(action) or not may_end():
            return []
        asked = True
        matcher = matches_action(action)
        signalled = SignalProcess(signal_number=signal.SIGTERM, process_matcher=matcher)
        return [EmitEvent(event=signalled)]

    return end


def _is_running(action: ExecuteProcess) -> bool:
    """Return True if it has been started, and has not ended."""
    started = action.process_details and "pid" in action.process_details
    return bool(started) and action.return_code is None


def _catches_signals(process: int) -> bool:
    """Return True if a program of this workspace has its handlers, which it installs together."""
    try:
        return catches(process, signal.SIGTERM)
    except OSError:  # it has ended meanwhile
        return True
