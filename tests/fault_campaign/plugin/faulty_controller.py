"""REMOTE, DAMPING and LOCOMOTION that fail on command, by `~/order` (std_msgs/String).

Orders, each once: `raise`, `nan`, `negative` (a gain), `late SECONDS` (the update takes so long),
`block SECONDS` (the thread of all ROS callbacks is busy for so long), `raise callback`. DAMPING
obeys `raise` alone. LOCOMOTION obeys `late SECONDS` (the inference takes so long), `nan` and `far`.
"""

from __future__ import annotations

import math

import numpy as np
from std_msgs.msg import String

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import Progress, RobotFacts
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controllers.passive_controllers import DampingController
from humanoid_controllers.policy.controller import RlPolicyController
from humanoid_controllers.policy.parameters import PolicyParameters
from humanoid_controllers.policy.ros import attach_policy
from humanoid_controllers.remote import RemotePolicyController
from humanoid_controllers.ros import attach_remote
from humanoid_policy.observation.inputs import ObservationInputs

NOT_ACTIVE = "updated while it is not active"


class OrderedFailure(RuntimeError):  # noqa: N818 - it is what it says
    """Raised on an order."""


class FaultyRemoteController(RemotePolicyController):
    """Acts as REMOTE until an order comes."""

    order = ""
    machine: Machine = LINUX  # replaced by the value of the process

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller. Forget an order of an earlier fault."""
        super().on_activate(state, command, now)
        self.order = ""
        self._began = now

    @property
    def compensates_gravity(self) -> bool:
        """See Controller: faults act while it is in force."""
        return True

    @property
    def progress(self) -> Progress:
        """See Controller: it never ends. Only the activation sets the values that this reads."""
        return Progress(1, 1, min(self._began, 0.0))

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        super().update(state, command, now, period)
        order, self.order = self.order, ""
        what, _, seconds = order.partition(" ")
        if what == "raise":
            raise OrderedFailure("failed as ordered")
        if what == "nan":
            command.position[3] = math.nan
        elif what == "negative":
            command.stiffness[5] = -1.0
        elif what == "late":
            self.machine.sleep(float(seconds))


class FaultyDampingController(DampingController):
    """Acts as DAMPING until the order to raise; checks the sequence of its calls."""

    order = ""
    active = False

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller."""
        super().on_activate(state, command, now)
        self.order, self.active = "", True

    def on_deactivate(self) -> None:
        """See Controller."""
        super().on_deactivate()
        self.active = False

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        if not self.active:
            raise OrderedFailure(NOT_ACTIVE)
        if self.order == "raise":
            raise OrderedFailure("failed as ordered")
        super().update(state, command, now, period)


class FaultyPolicyController(RlPolicyController):
    """Acts as LOCOMOTION until an order comes."""

    order = ""
    machine: Machine = LINUX  # replaced by the value of the process

    def on_configure(self, parameters: PolicyParameters, robot: RobotFacts) -> None:
        """See Controller."""
        super().on_configure(parameters, robot)
        compute = self.inference.compute

        def disturbed(inputs: ObservationInputs) -> FloatArray:
            action = compute(inputs)
            order, self.order = self.order, ""
            what, _, seconds = order.partition(" ")
            if what == "late":
                self.machine.sleep(float(seconds))
            elif what == "nan":
                action = np.full_like(action, math.nan)
            elif what == "far":
                action = np.full_like(action, 100.0)
            return action

        self.inference.compute = disturbed

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller. Forget an order of an earlier fault."""
        super().on_activate(state, command, now)
        self.order = ""


def attach_faulty_policy(host: PluginContext, controller: FaultyPolicyController) -> None:
    """The inference and topics of LOCOMOTION, and the orders."""
    controller.machine = host.machine
    attach_policy(host, controller)

    def obey(message: String) -> None:
        controller.order = message.data

    host.node.create_subscription(String, "~/order", obey, 1)


def attach_damping(host: PluginContext, controller: FaultyDampingController) -> None:
    """Its orders."""

    def obey(message: String) -> None:
        controller.order = message.data

    host.node.create_subscription(String, "~/order", obey, 1)


def attach(host: PluginContext, controller: FaultyRemoteController) -> None:
    """The topics of REMOTE, and the orders."""
    attach_remote(host, controller)
    controller.machine = host.machine

    def obey(message: String) -> None:
        what, _, seconds = message.data.partition(" ")
        if what == "block":
            host.machine.sleep(float(seconds))
        elif message.data == "raise callback":
            raise OrderedFailure("callback failed as ordered")
        else:
            controller.order = message.data

    host.node.create_subscription(String, "~/order", obey, 1)
