"""Support for tests of a bring-up: an operator on the topics, and a check of left processes."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, Self

import rclpy
from humanoid_control_msgs.msg import ControlMode, SafetyStatus, StandbyState
from humanoid_control_msgs.srv import ClearFault
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.utilities import get_rmw_implementation_identifier
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from humanoid_control_common.robot.robot_namespace import ROOT
from humanoid_control_common.rules.reason_codes import RESET_SENT
from test_support.ros.tuned_middleware import tuned_middleware

CLEAR_FAULT: Final = "mode_manager/clear_fault"
GONE: Final = 10  # statements since all reports are OK: the mode manager has these reports, too
ALL_SOURCES: Final = QoSProfile(depth=64, durability=DurabilityPolicy.TRANSIENT_LOCAL)
GIVE_UP: Final = 60.0  # [s] dead-man's switch of every wait, far above what is expected
LATCHED: Final = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Clearing:
    """Counts refusals of clear_fault while a fault ends, and judges each of them.

    Args:
        statements: number of statements of the mode manager so far.
    """

    def __init__(self, statements: Callable[[], int]) -> None:
        self.refusals: list[str] = []
        self._statements = statements
        self._levels: dict[str, int] = {}
        self._well_since: int | None = None

    def heard(self, source: str, level: int) -> None:
        """A source of safety reported `level`."""
        self._levels[source] = level
        well = all(it < SafetyStatus.FAULT for it in self._levels.values())
        if not well:
            self._well_since = None
        elif self._well_since is None:
            self._well_since = self._statements()

    @property
    def is_gone(self) -> bool:
        """Return True if all reports have been OK for long enough."""
        since = self._well_since
        return since is not None and self._statements() - since >= GONE

    def answered(self, answer: ClearFault.Response, *, gone: bool) -> bool:
        """Return True if `answer` states success. `gone`: the fault had ended before.

        Raises AssertionError for a refusal after the fault had ended, or for another reason than a
        reset.
        """
        if answer.success:
            return True
        self.refusals.append(answer.message)
        message = f"clear_fault was refused {len(self.refusals)} times, at last: {answer.message}"
        assert RESET_SENT.name in answer.reason_codes, f"{message} (no reset mends that)"
        assert not gone, f"{message} (although every source was well)"
        return False


class Participation(Protocol):
    """A node of the robot's ROS domain, and the waits for its callbacks."""

    node: Any

    def clock(self) -> float:
        """Return the time [s] of the waits."""

    def spin(self) -> object:
        """Execute callbacks for some milliseconds."""

    def close(self) -> None:
        """Leave the domain."""


class Participant:
    """A node with its executor, in a context of its own on the ROS domain of this process."""

    def __init__(self, namespace: str = ROOT) -> None:
        self.context = Context()
        with tuned_middleware(get_rmw_implementation_identifier()):
            rclpy.init(context=self.context)
            self.node: Any = Node("operator", context=self.context, namespace=namespace)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def clock(self) -> float:
        """See Participation."""
        return time.monotonic()

    def spin(self) -> None:
        """See Participation."""
        self.executor.spin_once(timeout_sec=0.1)

    def close(self) -> None:
        """See Participation."""
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


class Operator:
    """Commands the robot of a namespace in its ROS domain, as the program of an operator does."""

    def __init__(self, own: Participation) -> None:
        self._own, self.node = own, own.node
        self.statements: list[ControlMode] = []
        self.joint_states: list[JointState] = []
        self.standby: list[StandbyState] = []
        self.listen(ControlMode, "control_mode", self._note_mode)
        self.listen(JointState, "prime/joint_states", self.joint_states.append)
        self.listen(StandbyState, "standby_controller/state", self.standby.append, LATCHED)
        self._requests = self.node.create_publisher(ControlMode, "control_mode", 10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the domain."""
        self._own.close()

    def listen(
        self, kind: type, topic: str, callback: Callable[[Any], object], qos: QoSProfile | int = 10
    ) -> None:
        """Call `callback` with every message that arrives during a wait."""
        self.node.create_subscription(kind, topic, lambda message: callback(message) and None, qos)

    def _note_mode(self, message: ControlMode) -> None:
        if message.controller_name:  # else it is a request
            self.statements.append(message)

    @property
    def now(self) -> ControlMode:
        """The latest statement."""
        return self.statements[-1]

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until `condition` holds. Raises AssertionError if it never does."""
        deadline = self._own.clock() + GIVE_UP
        while not condition():
            assert self._own.clock() < deadline, f"waited {GIVE_UP} s in vain for {what}"
            self._own.spin()

    def connect(self) -> None:
        """Wait for the robot: joint states, a mode, and a subscriber of requests."""
        self.until(lambda: self.joint_states and self.statements, "joint states and a mode")
        self.until(lambda: self._requests.get_subscription_count() > 1, "the mode manager")

    def request(self, mode: int) -> None:
        """Publish a request as `ros2 topic pub --once` does; wait for statements made after it."""
        self._requests.publish(ControlMode(mode=mode))
        self.next_statements()

    def request_unseen(self, mode: int) -> None:
        """Publish a request where no robot states a mode."""
        self._requests.publish(ControlMode(mode=mode))

    def next_statements(self, count: int = 3) -> None:
        """Wait for statements made from now on."""
        seen = len(self.statements)
        self.until(lambda: len(self.statements) >= seen + count, "fresh statements")

    def reach(self, mode: int) -> None:
        """Repeat the request until `mode` is in force: its impedance may not be confirmed yet."""

        def asked() -> bool:
            if self.now.mode != mode:
                self.request(mode)
            return bool(self.now.mode == mode)

        self.until(asked, f"mode {mode}, now {self.now}")

    def clear_fault(self) -> list[str]:
        """Clear the fault, which may need time for a reset. Return and print the refusals.

        Raises AssertionError for a refusal that is wrong, see Clearing.
        """
        clearing = Clearing(lambda: len(self.statements))

        def listen(message: SafetyStatus) -> None:
            clearing.heard(message.source, message.level)

        topic = self.node.create_subscription(SafetyStatus, "safety_status", listen, ALL_SOURCES)

        def cleared() -> bool:
            self.next_statements()
            gone = clearing.is_gone
            return clearing.answered(self.call(CLEAR_FAULT, ClearFault), gone=gone)

        try:
            self.until(cleared, "the fault to be cleared")
        finally:
            self.node.destroy_subscription(topic)
        if clearing.refusals:
            sys.stdout.write(f"clear_fault was refused {len(clearing.refusals)} times at first\n")
        return clearing.refusals

    def finish_standby(self) -> None:
        """Wait until the sequence of the STANDBY in force has come to its end."""
        number = self.now.switch_number
        begun = next(it for it in self.statements if it.switch_number == number).header.stamp

        def finished() -> bool:
            state = self.latched(StandbyState, "standby_controller/state")[0]
            stamp = state.header.stamp  # older: of an earlier STANDBY
            return state.is_finished and (stamp.sec, stamp.nanosec) >= (begun.sec, begun.nanosec)

        self.until(finished, "the end of STANDBY")

    def latched(self, kind: type, topic: str, count: int = 1) -> list[Any]:
        """Return `count` latched messages, as a late subscriber receives them."""
        received: list[Any] = []
        subscription = self.node.create_subscription(kind, topic, received.append, LATCHED)
        self.until(lambda: len(received) >= count, f"{count} messages on {topic}")
        self.node.destroy_subscription(subscription)
        return received

    def call(self, service: str, kind: Any = Trigger) -> Any:
        """Call a service without arguments. Returns its response."""
        client = self.node.create_client(kind, service)
        self.until(client.service_is_ready, service)
        future = client.call_async(kind.Request())
        self.until(future.done, f"an answer of {service}")
        self.node.destroy_client(client)
        return future.result()


def running_with(mark: str) -> list[str]:
    """Return the command lines of the other processes with `mark` in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            inherited = mark.encode() in (folder / "environ").read_bytes()
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # the process has ended, or belongs to the kernel
            continue
        if inherited and int(folder.name) != os.getpid():
            found.append(words)
    return found
