"""An operator of the robot that records all messages of the robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from humanoid_control_msgs.msg import (
    ControlMode,
    ImpedanceState,
    MITCommand,
    SafetyStatus,
    StandbyState,
)
from humanoid_control_msgs.srv import ClearFault, LoadController, UnloadController
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from test_support.operator import CLEAR_FAULT, LATCHED, Participant

from fault_campaign.campaign_controllers import DAMPING, POLICY, REMOTE
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.rules.diagnosis import CODES
from humanoid_controller_manager.safety.loop_diagnoses import MODE
from humanoid_controllers.mode_manager.mode_manager_node import DIAGNOSIS as FALL

_MANAGER: Final = "controller_manager"


class Observer:
    """Sends requests, records messages, and waits for conditions up to a timeout.

    Args:
        node: its node.
        machine: has the clock of its waits.
        spin: executes the callbacks of the node for some milliseconds.
    """

    def __init__(self, node: Any, machine: Machine, spin: Callable[[], object]) -> None:
        self.node, self._machine, self._spin = node, machine, spin
        self._ears: list[Callable[[], None]] = []
        self._loaded = ""  # a controller beside those of the robot
        self.statements: list[ControlMode] = []
        self.joint_states: list[JointState] = []
        self.standby: list[StandbyState] = []
        self.listen(ControlMode, "control_mode", self._note_mode)
        self.listen(JointState, "prime/joint_states", self.joint_states.append)
        self.listen(StandbyState, "standby_controller/state", self.standby.append, LATCHED)
        self._requests = node.create_publisher(ControlMode, "control_mode", 10)
        self.safety: list[SafetyStatus] = []
        self.impedance: ImpedanceState | None = None
        self.recording = False  # True once the black box reports a control process
        self.mode_diagnosis = ""  # text of the latest diagnosis of the mode
        self.diagnosed_fall = frozenset[str]()  # codes of the fall on /diagnostics; none: no ERROR
        self.listen(SafetyStatus, "/safety_status", self.safety.append, LATCHED)
        self.listen(ImpedanceState, "/erob_impedance_manager/state", self._note_impedance)
        self.listen(DiagnosticArray, "/diagnostics", self._note_diagnoses)
        create = node.create_publisher
        self.commands = create(MITCommand, f"/{REMOTE}/command", 4)
        self.orders = create(String, f"/{REMOTE}/order", 1)
        self.damping_orders = create(String, f"/{DAMPING}/order", 1)
        self.policy_orders = create(String, f"/{POLICY}/order", 1)
        self.stop = create(Bool, "/emergency_stop", 10)
        self.reports = create(SafetyStatus, "/safety_status", LATCHED)

    def listen(
        self, kind: type, topic: str, callback: Callable[[Any], object], qos: QoSProfile | int = 10
    ) -> None:
        """Call `callback` with every message that arrives during a wait."""

        def take(message: Any) -> None:
            callback(message)

        ear = partial(self.node.create_subscription, kind, topic, take, qos)
        self._ears.append(ear)
        ear()

    def listen_anew(self) -> None:
        """Drop all messages of the processes of the robot, which have ended.

        Their last messages may still be queued. They would count as messages of the next
        processes: a mode that is no longer in force, for example.
        """
        for subscription in list(self.node.subscriptions):
            self.node.destroy_subscription(subscription)
        del self.safety[:], self.joint_states[:], self.statements[:], self.standby[:]
        self.impedance, self._loaded, self.mode_diagnosis = None, "", ""
        self.diagnosed_fall = frozenset()
        for ear in self._ears:
            ear()

    @property
    def now(self) -> ControlMode:
        """Return the latest statement."""
        return self.statements[-1]

    def within(self, seconds: float, condition: Callable[[], object]) -> bool:
        """Wait until `condition` is true. Returns False after `seconds`."""
        deadline = self._machine.clock() + seconds
        while not condition():
            if self._machine.clock() > deadline:
                return False
            self._spin()
        return True

    def forget(self) -> None:
        """Forget all messages but the latest."""
        del self.safety[:], self.joint_states[:-1], self.statements[:-1], self.standby[:-1]

    def comes_to(self, mode: int, seconds: float) -> bool:
        """Request `mode` until it is in force. Return False after `seconds`."""
        return self.within(seconds, lambda: self.now.mode == mode or self._again(mode))

    def confirmed(self) -> bool:
        """Return True if the impedance manager confirms the mode in force."""
        state = self.impedance
        return (
            state is not None
            and state.confirmed
            and (state.mode, state.switch_number) == (self.now.mode, self.now.switch_number)
        )

    def try_to_clear(self, seconds: float) -> ClearFault.Response | None:
        """Call the service. Returns its response; None without one in time."""
        found: ClearFault.Response | None = self.answer(
            ClearFault, CLEAR_FAULT, ClearFault.Request(), seconds
        )
        return found

    def loads(self, file: Path, seconds: float) -> bool:
        """Request the robot to load the controller of `file`. Return True if it is loaded."""
        request = LoadController.Request(file=str(file))
        answer = self.answer(LoadController, f"{_MANAGER}/load_file", request, seconds)
        if answer is None or not answer.success:
            return False
        self._loaded = answer.name
        return True

    def unload(self, seconds: float) -> bool:
        """Request to unload the controllers loaded since the start. Return True if none is left."""
        if self._loaded:
            request = UnloadController.Request(name=self._loaded)
            answer = self.answer(UnloadController, f"{_MANAGER}/unload", request, seconds)
            self._loaded = "" if answer is not None and answer.success else self._loaded
        return not self._loaded

    def answer(self, kind: Any, name: str, request: Any, seconds: float) -> Any:
        """Call service `name`. Returns its response; None without one in time."""
        client = self.node.create_client(kind, name)
        try:
            if not self.within(seconds, client.service_is_ready):
                return None
            future = client.call_async(request)
            return future.result() if self.within(seconds, future.done) else None
        finally:
            self.node.destroy_client(client)

    def fresh(self, seconds: float, count: int = 3) -> bool:
        """Return True if statements still arrive."""
        seen = len(self.statements)
        return self.within(seconds, lambda: len(self.statements) >= seen + count)

    def request(self, mode: int) -> None:
        """Publish one request."""
        self.publish_mode(ControlMode(mode=mode))

    def publish_mode(self, message: ControlMode) -> None:
        """Publish any message on /control_mode."""
        self._requests.publish(message)

    def _again(self, mode: int) -> bool:
        self.request(mode)
        self.fresh(0.5)
        return False

    def _note_mode(self, message: ControlMode) -> None:
        is_request, is_forged = not message.controller_name, message.header.stamp == Time()
        if not is_request and not is_forged:
            self.statements.append(message)

    def _note_impedance(self, message: ImpedanceState) -> None:
        self.impedance = message

    def _note_diagnoses(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == MODE:
                self.mode_diagnosis = status.message
            values = {it.key: it.value for it in status.values}
            if status.name == FALL:
                error = status.level == DiagnosticStatus.ERROR
                self.diagnosed_fall = frozenset(values[CODES].split() if error else ())
            if status.name == "black box":
                self.recording = values.get("control process", "none") != "none"


@contextmanager
def observer() -> Iterator[Observer]:
    """Return an observer on the ROS domain of this process."""
    with Participant() as own:
        yield Observer(own.node, LINUX, lambda: own.executor.spin_once(timeout_sec=0.02))
