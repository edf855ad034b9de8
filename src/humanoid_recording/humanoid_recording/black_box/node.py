"""The node `black_box`: its parameters, its service and its subscriptions."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final

from diagnostic_msgs.msg import DiagnosticArray
from pydantic import Field
from std_srvs.srv import Trigger

from humanoid_control_common.configuration.config import Document, StrictModel
from humanoid_control_common.configuration.parameter_files import parameter_files
from humanoid_control_common.errors import RobotError
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.middleware.steady_timer import create_steady_timer
from humanoid_control_common.robot.domain_lock import take_domain_lock
from humanoid_control_common.robot.robot_namespace import (
    checked_namespace,
    namespace_of,
    subfolder,
)
from humanoid_control_common.tick_records.record_file import RecordStore
from humanoid_controller_manager.ros.parameters import node_document, parse
from humanoid_controller_manager.ros.process.ros_session import (
    RosSession,
    exit_code,
    parameters_of,
    ros_session,
    spin_until,
)
from humanoid_controller_manager.ros.topics.diagnostics import diagnostic_array
from humanoid_recording.black_box.black_box import BlackBox
from humanoid_recording.black_box.messages import SUBSCRIBED, BagMessage
from humanoid_recording.black_box.store import MOST_BYTES, MOST_FILES, Store, default_folder

NODE: Final = "black_box"
CHECK_PERIOD: Final = 0.1  # [s]


def disk_store(folder: Path, most_files: int, most_bytes: int, machine: Machine) -> Store:
    """Return the files in `folder`."""
    return Store(folder, most_files, most_bytes, machine=machine)


class BlackBoxParameters(StrictModel):
    """Parameters of the node `black_box`."""

    folder: str = Field(
        default="",
        description="Of the files; empty: $ROS_HOME/black_box, ~/.ros/black_box. A robot in a "
        "namespace has a folder of that name in it.",
    )
    most_files: int = Field(
        default=MOST_FILES, ge=1, description="Beyond it the oldest files are removed."
    )
    most_megabytes: float = Field(
        default=MOST_BYTES / 1e6,
        gt=0.0,
        description="The same for the size of all files [MB].",
    )


class BlackBoxNode:
    """The ROS side of BlackBox: topics, service, diagnostics. Raises ConfigError."""

    def __init__(
        self,
        files: Sequence[Document],
        ros: RosSession,
        records: RecordStore = RecordStore(),  # noqa: B008 - without state
        make_store: Callable[[Path, int, int, Machine], Store] = disk_store,
    ) -> None:
        self.node, self._machine = ros.node(NODE, services=True), ros.machine
        self._namespace = checked_namespace(self.node.get_namespace())
        document = node_document(NODE, parameters_of(self.node), files, self._namespace)
        parameters = parse(BlackBoxParameters, NODE, document)
        self.node.describe(BlackBoxParameters, document)
        shared = Path(parameters.folder) if parameters.folder else default_folder()
        folder = shared / subfolder(self._namespace)
        most_bytes = round(parameters.most_megabytes * 1e6)
        store = make_store(folder, parameters.most_files, most_bytes, ros.machine)
        store.remove_unfinished()
        self.box = BlackBox(store, records, ros.machine.clock, self._namespace)
        self._diagnostics = self.node.create_publisher(DiagnosticArray, "diagnostics", 10)
        for topic, kind in SUBSCRIBED.items():
            # Deep enough for the time that writing a file takes.
            self.node.create_subscription(kind, topic, partial(self._receive, topic), 100, raw=True)
        self.node.create_service(Trigger, "~/save", self._save)
        create_steady_timer(self.node, CHECK_PERIOD, self.box.check)
        create_steady_timer(self.node, 1.0, self._diagnose)

    def _receive(self, topic: str, data: bytes) -> None:
        self.box.receive(BagMessage(topic, self._machine.clock_ns(), data))

    def _save(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message = str(self.box.save())
            response.success = True
        except RobotError as error:
            response.message = str(error)
        return response

    def _diagnose(self) -> None:
        stamp = self.node.get_clock().now().to_msg()
        diagnosis = self.box.diagnosis()
        self._diagnostics.publish(diagnostic_array(stamp, [diagnosis], self._namespace))


def run(arguments: Sequence[str], stop: Event) -> int:
    """Run the black box until `stop` is set. Returns the exit code.

    Wrong parameters, or another black box, lead to a message on stderr and code 1.
    """
    return exit_code(partial(_run, arguments, stop))


def _run(arguments: Sequence[str], stop: Event) -> int:
    files = parameter_files(arguments)
    with take_domain_lock(NODE, namespace_of(arguments)), ros_session(arguments) as ros:
        black_box = BlackBoxNode(files, ros)
        parent = os.getppid()

        def needed() -> bool:
            # Without its parent and without a robot it ends: the next robot starts its own.
            return os.getppid() == parent or black_box.box.watching

        spin_until(ros, black_box.node, lambda: stop.is_set() or not needed())
        black_box.box.finish()
    return 0
