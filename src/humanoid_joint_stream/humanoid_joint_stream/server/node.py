"""The node `joint_stream`: the robot's modes and faults for the server."""

import gc
import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from humanoid_control_msgs.msg import ControlMode
from humanoid_control_msgs.srv import ClearFault, LoadController
from pydantic import Field

from humanoid_control_common.configuration.config import Document, StrictModel
from humanoid_control_common.configuration.parameter_files import parameter_files
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.robot.domain_lock import take_domain_lock
from humanoid_control_common.robot.robot_namespace import checked_namespace, namespace_of
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import RESET_SENT
from humanoid_control_common.tick_records.record_file import RecordStore
from humanoid_controller_manager.ros.parameters import node_document, parse
from humanoid_controller_manager.ros.process.ros_session import (
    RosSession,
    exit_code,
    parameters_of,
    ros_session,
    spin_until,
)
from humanoid_joint_client.address import socket_path
from humanoid_joint_stream.server.attachment import Attachment
from humanoid_joint_stream.server.event_loop import EventLoop
from humanoid_joint_stream.server.robot_link import RobotLink
from humanoid_joint_stream.server.service import JointStreamService
from humanoid_joint_stream.server.session import Situation
from humanoid_joint_stream.server.transport import local_server, network_server

NODE: Final = "joint_stream"
HEARTBEAT: Final = 0.01  # [s] between two polls of the robot
ATTACH: Final = 20  # polls between two searches for the control process
CLEARING: Final = 3.0  # [s] the mode manager may take to clear a fault
LOAD_AGAIN: Final = 3.0  # [s] after the controller could not be loaded
SWITCH_INTERVAL: Final = 0.0005  # [s] after which one of the process's threads makes way
END: Final = 0.5  # [s] calls may take to end

logger = logging.getLogger(__name__)


class JointStreamServerParameters(StrictModel):
    """Parameters of the node `joint_stream`."""

    controller_file: str = Field(
        default="",
        description="Parameters of the controller, which is loaded if the robot has none; empty: "
        "it must be loaded by `hc load`.",
    )
    listen: str = Field(
        default="",
        description="HOST:PORT for other machines, with TLS and a token; empty: this machine only.",
    )
    certificate_file: str = Field(default="", description="Certificate of the server, PEM.")
    key_file: str = Field(default="", description="Its private key, PEM.")
    token_file: str = Field(default="", description="The token that clients must have.")


class RosRobotLink(RobotLink):
    """The robot by its topics and services. Callbacks run in the executor's thread."""

    def __init__(self, ros: RosSession, files: Sequence[Document]) -> None:
        self.node = ros.node(NODE, services=True)
        self.namespace = checked_namespace(self.node.get_namespace())
        document = node_document(NODE, parameters_of(self.node), files, self.namespace)
        self.parameters = parse(JointStreamServerParameters, NODE, document)
        self.node.describe(JointStreamServerParameters, document)
        self._situation = Situation()
        self._modes = self.node.create_publisher(ControlMode, "control_mode", 10)
        self.node.create_subscription(ControlMode, "control_mode", self._on_statement, 10)
        self._clear = self.node.create_client(ClearFault, "mode_manager/clear_fault")
        self._not_loaded = "the joint stream's controller is being loaded: try again"
        self._load_again = 0.0  # [s]
        self._load = self.node.create_client(LoadController, "controller_manager/load_file")

    @property
    def situation(self) -> Situation:
        """See RobotLink."""
        return self._situation

    def request(self, mode: Mode) -> None:
        """See RobotLink."""
        self._modes.publish(ControlMode(mode=int(mode)))

    def clear_fault(self) -> str:
        """See RobotLink."""
        deadline = time.monotonic() + CLEARING
        text = "the mode manager does not answer"
        while time.monotonic() < deadline:
            answered = threading.Event()
            call = self._clear.call_async(ClearFault.Request())
            call.add_done_callback(lambda _, done=answered: done.set())
            if not answered.wait(deadline - time.monotonic()):
                break
            answer = call.result()
            if answer.success:
                return ""
            text = str(answer.message)
            if answer.reason_codes[:1] != [RESET_SENT.name]:
                break
            time.sleep(0.1)
        return text

    def description(self) -> str:
        """See RobotLink: of the tick records, which have the URDF that the loop runs with."""
        records = RecordStore()
        files = records.files(self.namespace)
        return records.attach(files[-1]).facts.robot_description if files else ""

    def load(self) -> str:
        """Have the controller loaded, again after a while; return why it is not yet."""
        now = time.monotonic()
        if now > self._load_again and self._load.service_is_ready():
            self._load_again = now + LOAD_AGAIN
            path = Path(self.parameters.controller_file).resolve()
            call = self._load.call_async(LoadController.Request(file=str(path)))
            call.add_done_callback(self._on_loaded)
        return self._not_loaded

    def _on_loaded(self, call: Any) -> None:
        answer = call.result()
        if answer is not None and not answer.success:
            self._not_loaded = f"the controller of the joint stream: {answer.message}"
            logger.error("%s", self._not_loaded)

    def _on_statement(self, message: ControlMode) -> None:
        found = situation_of(message)
        if found is not None:
            self._situation = found


def situation_of(message: ControlMode) -> Situation | None:
    """Return what a message of the topic `control_mode` states.

    None: it is a request, or its mode is unknown here.
    """
    if not message.controller_name or message.mode not in frozenset(Mode):
        return None
    return Situation(
        Mode(message.mode),
        message.status_message,
        tuple(message.reason_codes),
        message.switch_number,
    )


class RobotPoller:
    """Polls the robot every few ms, in a thread of its own."""

    def __init__(self, attachment: Attachment, link: RobotLink, clock: Callable[[], int]) -> None:
        self._attachment, self._link, self._clock = attachment, link, clock
        self._stop = threading.Event()
        self._problems: set[str] = set()  # each is logged once
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; the robot stops following."""
        self._stop.set()
        self._thread.join()
        self._attachment.leave("the server ends")

    def _run(self) -> None:
        polls = 0
        while not self._stop.wait(HEARTBEAT):
            self._attempt(self._poll_session)
            if polls % ATTACH == 0:
                self._attempt(self._attachment.poll)
            polls += 1

    def _poll_session(self) -> None:
        robot = self._attachment.robot
        if robot is not None:
            robot.session.poll(self._link.situation, self._clock())

    def _attempt(self, poll: Callable[[], None]) -> None:
        """Call `poll`; log each error once."""
        try:
            poll()
        except Exception as error:  # later polls are what ends a lease that is not kept
            text = f"{type(error).__name__}: {error}"
            if text not in self._problems:
                self._problems.add(text)
                logger.exception("a poll of the robot failed")


def run(arguments: Sequence[str], stop: threading.Event) -> int:
    """Serve until `stop` is set. Returns the exit code.

    Wrong parameters, or another server, lead to a message on stderr and code 1.
    """
    return exit_code(partial(_run, arguments, stop))


def _run(arguments: Sequence[str], stop: threading.Event) -> int:
    sys.setswitchinterval(SWITCH_INTERVAL)
    files, namespace = parameter_files(arguments), namespace_of(arguments)
    with take_domain_lock(NODE, namespace), ros_session(arguments) as ros:
        link = RosRobotLink(ros, files)
        parameters, clock = link.parameters, LINUX.clock_ns
        load = link.load if parameters.controller_file else None
        attachment = Attachment(link, clock, load, link.namespace)
        answers = JointStreamService(
            lambda: attachment.robot, lambda: attachment.obstacle, clock
        ).answers()
        socket = socket_path(namespace=link.namespace)
        calls = EventLoop()
        try:
            servers = [calls.call(local_server(answers, socket))]
            if parameters.listen:
                words = parameters.certificate_file, parameters.key_file, parameters.token_file
                server, port = calls.call(network_server(answers, parameters.listen, *words))
                servers.append(server)
                logger.info("joint stream with TLS on port %d", port)
            poller = RobotPoller(attachment, link, clock)
            for server in servers:
                calls.call(server.start())
            gc.freeze()  # the objects up to here live as long as the process
            try:
                spin_until(ros, link.node, stop.is_set)
            finally:
                poller.stop()
                for server in servers:
                    calls.call(server.stop(END))
                socket.unlink(missing_ok=True)
        finally:
            calls.stop()
    return 0
