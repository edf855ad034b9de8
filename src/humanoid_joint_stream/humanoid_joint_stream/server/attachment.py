"""Find the robot's control process, and detach from it when it has ended."""

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import RobotError
from humanoid_control_common.robot.robot_namespace import ROOT
from humanoid_control_common.tick_records.record_file import RecordFile, RecordStore
from humanoid_joint_client.status import Status
from humanoid_joint_stream.server.robot_link import RobotLink
from humanoid_joint_stream.server.robot_states import RobotStates
from humanoid_joint_stream.server.service import Robot
from humanoid_joint_stream.server.session import Session
from humanoid_joint_stream.server.state_hub import StateHub
from humanoid_joint_stream.shared.stream_file import attach, path_of, release

ENDED: Final = "the control process has ended"
NOT_FOUND: Final = (
    "the robot's control process does not run, or has no tick records (its log states why)"
)
NOT_LOADED: Final = "the joint stream's controller is not loaded: `hc load` it"

logger = logging.getLogger(__name__)


class Attachment:
    """The robot, once its control process runs and has the controller of the joint stream.

    Args:
        load: has the controller loaded, and returns why it is not yet; None: it is loaded
            otherwise. Must not wait.
        clock: the robot's clock [ns].
    """

    def __init__(
        self,
        link: RobotLink,
        clock: Callable[[], int],
        load: Callable[[], str] | None,
        namespace: str = ROOT,
        records: RecordStore = RecordStore(),  # noqa: B008 - without state
    ) -> None:
        self.robot: Robot | None = None
        self.obstacle = NOT_FOUND  # why there is no robot, while there is none
        self._link, self._clock, self._load = link, clock, load
        self._namespace, self._records = namespace, records
        self._descriptor = -1
        self._place = (0, 0)  # device and inode of the file
        self._problem = ""

    def poll(self) -> None:
        """Attach, or leave a process that has ended. Called a few times a second."""
        robot = self.robot
        if robot is not None:
            why = self._loss(robot)
            if not why:
                return
            self.leave(why)
        record = self._record()
        if record is None:
            self.obstacle = NOT_FOUND
            return
        try:
            self._attach(record)
        except FileNotFoundError:
            self.obstacle = NOT_LOADED if self._load is None else self._load()
        except BlockingIOError:
            self._warn("another server of the joint stream runs for this robot")
        except (OSError, RobotError) as error:
            self._warn(str(error))

    def leave(self, why: str) -> None:
        """Stop the robot's stream, if there is a robot."""
        robot, self.robot = self.robot, None
        if robot is None:
            return
        self.obstacle = why
        robot.session.stop(Status.INACTIVE, why)
        robot.states.stop(why)
        with suppress(OSError):
            # A control process that was killed leaves its memory.
            if not robot.session.file.writer_lives() and self._is_in_place():
                path_of(self._namespace).unlink()
        release(self._descriptor)
        logger.info("joint stream ends: %s", why)

    def _attach(self, record: RecordFile) -> None:
        file, descriptor = attach(path_of(self._namespace))
        try:
            if file.facts.pid != record.facts.pid or not file.writer_lives():
                raise FileNotFoundError  # of an earlier process
            status = os.fstat(descriptor)
        except OSError:
            release(descriptor)
            raise
        self._place, self._descriptor = (status.st_dev, status.st_ino), descriptor
        session = Session(file, self._clock())
        states = StateHub(RobotStates(record, session).fresh, record.facts.wall_period)
        self.robot = Robot(session, states, self._link)
        self._problem = ""
        logger.info("joint stream of %d joints", len(file.facts.joints))

    def _loss(self, robot: Robot) -> str:
        """Return why the robot must be left; empty if it need not."""
        try:
            if not robot.session.file.writer_lives():
                return ENDED
            same = self._is_in_place()
        except FileNotFoundError:
            return ENDED
        except OSError:
            return ""  # unknown now, for example while no descriptor is free
        return "" if same else "the controller of the joint stream was loaded anew"

    def _is_in_place(self) -> bool:
        """Return whether the path has the file that this server uses. Raises OSError."""
        status = path_of(self._namespace).stat()
        return (status.st_dev, status.st_ino) == self._place

    def _record(self) -> RecordFile | None:
        """Return the tick records of the control process, if it runs."""
        with suppress(OSError):  # of the search: the next poll searches again
            for path in reversed(self._records.files(self._namespace)):
                with suppress(OSError, RobotError):
                    record = self._records.attach(Path(path))
                    if record.writer_lives():
                        return record
        return None

    def _warn(self, text: str) -> None:
        self.obstacle = text
        if text != self._problem:
            self._problem = text
            logger.warning("%s", text)
