"""The ROS side of the viewer: subscriptions in, the operator's clicks out."""

import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from humanoid_control_msgs.msg import ControlMode, MITCommand, SafetyStatus, StandbyState
from humanoid_control_msgs.srv import ClearFault
from rcl_interfaces.msg import IntegerRange
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String

from humanoid_control_common.configuration.node_parameters import FixedParameters, fixed
from humanoid_control_common.middleware.polled_topic import PolledTopic
from humanoid_control_common.middleware.qos_profiles import LATCHED, LATCHED_HISTORY, STREAM
from humanoid_control_common.middleware.steady_timer import create_steady_timer
from humanoid_control_common.rules.modes import Mode
from humanoid_viz.state.latest_messages import LatestMessages
from humanoid_viz.state.state import SafetyReport, StandbyProgress, Statement, StreamState

STOP_TOPIC = "emergency_stop"
CLEAR_FAULT = "mode_manager/clear_fault"
CLEAR_FAULT_TIMEOUT = 3.0  # [s]


class ViewerNode(FixedParameters, Node):  # type: ignore[misc]  # rclpy counts as untyped
    """Writes into `messages`; takes clicks from any thread and acts in the executor's."""

    def __init__(self, messages: LatestMessages) -> None:
        super().__init__("viewer")
        self._messages = messages
        self._actions: deque[Callable[[], None]] = deque()
        self._stated_at = ControlMode().header.stamp  # of the latest statement
        self._wake = self.create_guard_condition(lambda: None)
        self._requests = self.create_publisher(ControlMode, "control_mode", 10)
        self._stops = self.create_publisher(Bool, STOP_TOPIC, 10)
        self._clear_fault = self.create_client(ClearFault, CLEAR_FAULT)
        self._joint_states = PolledTopic(self, JointState, "prime/joint_states", STREAM)
        self._joint_commands = PolledTopic(self, MITCommand, "prime/joint_commands", STREAM)
        self._modes = PolledTopic(self, ControlMode, "control_mode", STREAM)
        self._standby = PolledTopic(self, StandbyState, "standby_controller/state", LATCHED)
        self.create_subscription(
            String, "robot_description", lambda m: messages.put_description(m.data), LATCHED
        )
        self.create_subscription(SafetyStatus, "safety_status", self._note_safety, LATCHED_HISTORY)

    def title(self) -> str:
        """Parameter `title`. Raises rclpy's parameter exceptions."""
        descriptor = fixed("Title of the page: the robot's.")
        return str(self.declare_parameter("title", "Robot", descriptor).value)

    def token_file(self) -> str:
        """Parameter `token_file`. Raises rclpy's parameter exceptions."""
        what = "File with the token of the page; empty: a new one at every start, if one is needed."
        descriptor = fixed(what)
        return str(self.declare_parameter("token_file", "", descriptor).value)

    def address(self) -> tuple[str, int]:
        """Parameters `host` and `port`. Raises rclpy's parameter exceptions."""
        port_range = IntegerRange(from_value=0, to_value=65535, step=1)
        host = self.declare_parameter("host", "127.0.0.1", fixed("Address to listen on."))
        port = self.declare_parameter(
            "port",
            8080,
            fixed("Port to listen on, or the next free one; 0: any.", integer_range=[port_range]),
        )
        return host.value, port.value

    def poll(self) -> None:
        """Take the messages of the topics with many messages."""
        states, times = self._joint_states.take()
        if states is not None:
            columns = states.position, states.velocity, states.effort
            self._messages.put_joint_states(states.name, columns, times)
        commands, times = self._joint_commands.take()
        if commands is not None:
            columns = commands.position, commands.stiffness, commands.damping
            self._messages.put_joint_commands(commands.joint_names, columns, times)
        # A change of mode comes before its progress.
        for mode, arrival in self._modes.take_all():
            if mode.controller_name:  # else it is a request
                codes = tuple(mode.reason_codes)
                statement = Statement(mode.mode, mode.controller_name, mode.status_message, codes)
                self._messages.put_statement(statement, arrival)
                self._stated_at = mode.header.stamp
        standby, _ = self._standby.take()
        if standby is not None:
            self._messages.put_standby(
                StandbyProgress(
                    segment=standby.current_segment,
                    segments=standby.total_segments,
                    progress=standby.progress,
                    finished=standby.is_finished,
                )
            )

    def request_mode(self, mode: Mode) -> None:
        """Request `mode` from the mode manager; from any thread."""
        self._queue(partial(self._publish_request, mode))

    def clear_fault(self) -> None:
        """Request the mode manager to clear a fault; from any thread."""
        self._queue(self._call_clear_fault)

    def emergency_stop(self) -> None:
        """Publish an emergency stop; from any thread."""
        self._queue(self._publish_stop)

    def run_actions(self) -> None:
        """Do what the operator has requested; in the executor's thread, after each wait.

        A guard condition could not call it: rmw_fastrtps loses a trigger that comes at the end of a
        wait, and with it the click.
        """
        while self._actions:
            self._actions.popleft()()

    def _queue(self, act: Callable[[], None]) -> None:
        self._actions.append(act)
        self._wake.trigger()

    def _note_safety(self, status: SafetyStatus) -> None:
        self._messages.put_safety(
            SafetyReport(status.source, status.level, status.flags, status.message)
        )

    def _answer(self, text: str, *, refused: bool = False) -> None:
        self._messages.put_answer(text, refused=refused, time=time.monotonic())

    def _publish_stop(self) -> None:
        self._stops.publish(Bool(data=True))
        if not self._stops.get_subscription_count():
            text = f"NOT STOPPED: no subscriber on {self._stops.topic_name}: cut the power"
            self._answer(text, refused=True)
        elif silence := self._silence():
            text = f"NOT CONFIRMED: emergency stop sent, but {silence}: cut the power"
            self._answer(text, refused=True)
        else:
            self._answer("emergency stop sent")

    def _silence(self) -> str:
        """Return for how long no mode has been stated, as text; empty while modes are stated."""
        mode = self._messages.snapshot(time.monotonic()).mode
        return f"no mode stated for {mode.age:.1f} s" if mode.flow is StreamState.LOST else ""

    def _publish_request(self, mode: Mode) -> None:
        silence = self._silence()
        if silence and mode is not Mode.DAMPING:
            self._answer(f"{mode.name} NOT requested: {silence}", refused=True)
            return
        request = ControlMode(mode=int(mode))
        request.header.stamp = self._stated_at  # by which the robot sees that it comes late
        self._requests.publish(request)
        if self._requests.get_subscription_count() <= 1:  # one of them is this node's
            silence = f"{self._requests.topic_name} has no subscriber"
        doubt = f", but {silence}" if silence else ""
        self._answer(f"requested {mode.name}{doubt}", refused=bool(silence))

    def _call_clear_fault(self) -> None:
        if silence := self._silence():
            self._answer(f"clear fault: NOT requested: {silence}", refused=True)
            return
        if not self._clear_fault.service_is_ready():
            service = self.resolve_service_name(CLEAR_FAULT)
            self._answer(f"clear fault: there is no {service}", refused=True)
            return
        self._answer("clear fault: requested")
        call = self._clear_fault.call_async(ClearFault.Request())
        call.add_done_callback(self._note_clear_fault)
        deadline = create_steady_timer(self, CLEAR_FAULT_TIMEOUT, lambda: self._give_up(call))
        call.add_done_callback(lambda _: self.destroy_timer(deadline))

    def _note_clear_fault(self, call: Any) -> None:
        if call.cancelled():
            return
        result = call.result()
        outcome = "done" if result.success else "refused"
        text = f"clear fault: {outcome}" + (f": {result.message}" if result.message else "")
        self._answer(text, refused=not result.success)

    def _give_up(self, call: Any) -> None:
        call.cancel()
        # A broken link holds the call back: it is withdrawn when the operator is told of no answer.
        self.destroy_client(self._clear_fault)
        self._clear_fault = self.create_client(ClearFault, CLEAR_FAULT)
        self._answer(f"clear fault: no answer within {CLEAR_FAULT_TIMEOUT:g} s", refused=True)
