"""`hc calibrate`: from the running robot to a new calibration file."""

import math
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from humanoid_bringup.calibration.calibration_node import CalibrationLink
from humanoid_bringup.calibration.files import check_writable, file_text, replace_file
from humanoid_bringup.calibration.results import JointResult, joint_result
from humanoid_bringup.calibration.robot import Robot, read_robot, refuse_changed
from humanoid_bringup.calibration.session import CalibrationSession
from humanoid_bringup.robot_package import RobotPackage
from humanoid_bringup.supervision.terminal_signals import StopSignals
from humanoid_control_cli.calibrate.screen import Screen, result_lines, warning_lines
from humanoid_control_cli.client import Client
from humanoid_control_cli.domain import robot_namespace
from humanoid_control_common.errors import RobotError
from humanoid_control_common.robot.domain_lock import take_domain_lock

MANAGER_DISCOVERY: Final = 1.0  # [s] an impedance manager is looked for before anything is written
RELEASE_TIMEOUT: Final = 5.0  # [s] until joints that can't be restored are given up


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command line."""

    joints: tuple[str, ...]  # to be moved one after another; without duration: to begin with
    duration: float  # [s] for each of them; infinite: until a key
    flips: tuple[str, ...]
    output: Path | None  # None: the file that the robot uses
    timeout: float  # [s] for the robot to answer


class Calibrating:
    """The loop around one session, from its begin to its end."""

    def __init__(
        self, client: Client, link: CalibrationLink, session: CalibrationSession, options: Options
    ) -> None:
        self._client, self._link, self._session = client, link, session
        self._options = options
        self._todo = list(options.joints)
        self._began = math.nan  # [s] when the joint that is to be moved could be
        self._selected_at = 0.0  # [s] when it was selected
        self._end = ""  # "write" or "abort"

    def run(self, stop: StopSignals, screen: Screen) -> bool:
        """Run until all joints are done, a key or a signal. Return whether to write the results.

        Every drive is as it was afterwards. Raises RobotError, also if that could not be done.
        """
        for joint in self._options.flips:
            self._session.flip(joint)
        if self._todo and math.isinf(self._options.duration):
            self._session.select(self._todo[0])

        def look() -> bool:
            if stop.count:
                self._finish("abort")
                return True  # the terminal may be closed
            for key in screen.pressed():
                self._press(key)
            self._link.check_alone()
            self._go_on(time.monotonic(), screen)
            screen.show(self._session)
            return bool(self._end)

        try:
            self._client.wait(look, math.inf)
        finally:
            self._release()
        return self._end == "write"

    def _press(self, key: str) -> None:
        session = self._session
        actions: dict[str, Callable[[], None]] = {
            "n": lambda: session.select_next(1),
            "down": lambda: session.select_next(1),
            "p": lambda: session.select_next(-1),
            "up": lambda: session.select_next(-1),
            "0": lambda: session.select(""),
            "f": lambda: session.flip(session.selected) if session.selected else None,
            "r": lambda: session.forget(session.selected) if session.selected else None,
            "w": lambda: self._finish("write"),
            "q": lambda: self._finish("abort"),
        }
        if key in actions:
            actions[key]()

    def _finish(self, how: str) -> None:
        self._end = self._end or how

    def _go_on(self, now: float, screen: Screen) -> None:
        """Take the operator's keys, where no schedule was given."""
        if math.isinf(self._options.duration):
            return
        session = self._session
        if math.isnan(self._began):
            self._begin_next(now, screen)
        elif now - self._began >= self._options.duration:
            if self._todo:
                self._began, self._selected_at = math.nan, 0.0
                session.select("")
            else:
                self._finish("write")

    def _begin_next(self, now: float, screen: Screen) -> None:
        session = self._session
        if self._todo and not self._selected_at:
            session.select(self._todo[0])
            self._selected_at = now
        joint = self._todo[0] if self._todo else ""
        obstacle = session.obstacle_of(joint) if joint else ""
        if not obstacle:
            self._began = now
            self._todo = self._todo[1:]
            if joint:
                screen.say(f"{joint}: move it to both stops")
        elif now - self._selected_at > self._options.timeout:
            raise RobotError(f"{joint} does not become limp: {obstacle}")

    def _release(self) -> None:
        limp_drives = self._session.limp_drives
        self._session.select("")
        if not self._client.wait(lambda: limp_drives.released, RELEASE_TIMEOUT):
            names = ", ".join(limp_drives.touched) or "a joint"
            raise RobotError(
                f"{names} may still be limp ({limp_drives.message or 'no answer'}): support the "
                "arm, then stop the robot with `hc mode quit`, which restores every drive's own "
                "gains"
            )


def calibrate(options: Options) -> int:
    """Calibrate the robot that is running. Returns the exit code."""
    with (
        take_domain_lock("calibration", robot_namespace()),
        StopSignals() as stop,
        Client(options.timeout) as client,
    ):
        link = CalibrationLink(client.node)
        if not client.wait(lambda: link.described or stop.count, options.timeout):
            raise client.no_control_process()
        if stop.count:
            return _aborted(stop)
        robot = link.robot()
        for joint in (*options.joints, *options.flips):
            robot.joints.indices([joint])
        target = options.output or robot.file
        check_writable(target)
        client.wait(lambda: link.manager_beside or stop.count, MANAGER_DISCOVERY)
        link.check_alone()
        session = link.begin(robot)
        try:
            with Screen() as screen:
                wanted = Calibrating(client, link, session, options).run(stop, screen)
        except RobotError:
            _print_file(session.results(), robot)
            raise
    if not wanted:
        return _aborted(stop)
    return write(session.results(), robot, target)


def _aborted(stop: StopSignals) -> int:
    """Tell the operator about the abort. Returns the exit code."""
    sys.stderr.write("hc: aborted, nothing was written\n")
    return 128 + signal.Signals[stop.latest] if stop.count else 1


def _print_file(results: Sequence[JointResult], robot: Robot) -> None:
    """Print the file that is not written, if anything has changed: no sweep need be repeated.

    The reason why it is not written follows, also if this output cannot be written.
    """
    if any(result.changed for result in results):
        with suppress(RobotError, OSError):
            sys.stderr.write("hc: nothing was written; the calibration so far:\n")
            sys.stdout.write(file_text(results, robot.ids, datetime.now()))
            sys.stdout.flush()


def write(results: Sequence[JointResult], robot: Robot, target: Path) -> int:
    """Write the file, if anything has changed, and list the changes. Returns the exit code."""
    for line in warning_lines(results):
        sys.stderr.write(f"hc: {line}\n")
    if not any(result.changed for result in results):
        sys.stderr.write("hc: no joint was swept by 0.5 rad or flipped: nothing was written\n")
        return 1
    sys.stdout.writelines(f"{line}\n" for line in result_lines(results))
    now = datetime.now()
    try:
        refuse_changed(robot)
        backup = replace_file(target, file_text(results, robot.ids, now), now)
    except RobotError:
        _print_file(results, robot)
        raise
    kept = f", the old file is {backup}" if backup else ""
    sys.stdout.write(f"written to {target}{kept}; start the robot again to use it\n")
    return 0


def flip_only(
    package: RobotPackage,
    joints: tuple[str, ...],
    calibration: Path | None,
    hardware: Path | None,
    output: Path | None,
) -> int:
    """Flip `joints` in a calibration file; None: the robot's own files. Returns the exit code.

    Raises RobotError for an unknown joint and for a file that is wrong.
    """
    chosen = {"calibration_file": calibration, "hardware_config": hardware}
    mappings = {name: str(path) for name, path in chosen.items() if path}
    robot = read_robot(package.expand(mappings))
    robot.joints.indices(joints)
    target = output or robot.file
    check_writable(target)
    results = [
        joint_result(name, robot.prior[name], None, robot.limits[name], flip=name in joints)
        for name in robot.joints.names
    ]
    return write(results, robot, target)
