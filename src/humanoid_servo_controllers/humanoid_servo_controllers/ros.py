"""The ROS side of the servo controllers: commands, gains, state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from humanoid_control_msgs.msg import ServoState
from humanoid_control_msgs.srv import SetServoGains, SetVelocityCurve
from pydantic import ValidationError
from rclpy.node import Node
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import Trigger

from humanoid_control_common.errors import ControllerError
from humanoid_control_common.log_on_change import LogOnChange
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.ros.plugin_context import PluginContext, SnapshotListener
from humanoid_controller_manager.ros.topics.bounded_topic import (
    BoundedTopic,
    message_size,
    refusal_log,
)
from humanoid_controller_manager.ros.topics.message_age import MessageAge, MessageInfo
from humanoid_servo_controllers.controllers import (
    MixedPositionVelocityController,
    ServoController,
    ServoReport,
)
from humanoid_servo_controllers.parameters import Curve, Gains
from humanoid_servo_controllers.servo.pid import PidGains

if TYPE_CHECKING:
    from humanoid_servo_controllers.joint_controller_state import JointControllerStates

MESSAGES: Final = "control_msgs"
_ARRAYS: Final = (
    "set_point",
    "process_value",
    "process_value_dot",
    "error",
    "effort",
    "friction",
    "holds",
)


def attach_servo(context: PluginContext, controller: ServoController) -> SnapshotListener:
    """Take `~/commands` and `~/max_force_factor`, publish `~/state`.

    Services: `~/set_gains`, `~/reset_gains`; of a mixed controller `~/set_velocity_curve`. Where
    control_msgs is installed, `~/JOINT/state` too.
    """
    side = ServoRosSide(context, controller)
    node = context.node
    largest = message_size(names=0, numbers=len(controller.joints))
    refuse = refusal_log(node, "refused")
    commands = BoundedTopic(Float64MultiArray, largest, side.on_commands, refuse)
    commands.subscribe(node, "~/commands", 4)
    node.create_subscription(Float64, "~/max_force_factor", side.on_factor, 4)
    node.create_service(SetServoGains, "~/set_gains", side.on_set_gains)
    node.create_service(Trigger, "~/reset_gains", side.on_reset_gains)
    if isinstance(controller, MixedPositionVelocityController):
        curves = VelocityCurveService(controller)
        node.create_service(SetVelocityCurve, "~/set_velocity_curve", curves.on_request)
    return side.publish


class ServoRosSide:
    """Callbacks in the executor's thread; `publish` in the publisher's thread."""

    def __init__(self, context: PluginContext, controller: ServoController) -> None:
        self._context, self._controller = context, controller
        self._age = MessageAge()  # of commands
        self._warn_once = LogOnChange(context.node.get_logger().warning)
        self._names = list(controller.joints.names)
        self._states = context.node.create_publisher(ServoState, "~/state", 10)
        self._published: ServoReport | None = None
        self._of_joints: JointControllerStates | None = None
        if isinstance(context.node, Node) and find_spec(MESSAGES) is not None:
            from humanoid_servo_controllers import joint_controller_state

            self._of_joints = joint_controller_state.JointControllerStates(context, self._names)

    def on_commands(self, message: Float64MultiArray, info: MessageInfo) -> None:
        """Follow a command; log once why one is refused."""
        arrival = self._age.arrival(info, self._context)
        values = np.array(message.data[message.layout.data_offset :], dtype=np.float64)
        self._try(lambda: self._controller.receive(values, arrival))

    def on_factor(self, message: Float64) -> None:
        """Limit the efforts; log once why a factor is refused."""
        self._try(lambda: self._controller.set_force_factor(message.data))

    def on_set_gains(
        self, request: SetServoGains.Request, response: SetServoGains.Response
    ) -> SetServoGains.Response:
        """Change the gains of one joint."""
        given = {
            key: getattr(request, key) for key in ("p", "i", "d", "i_clamp_min", "i_clamp_max")
        }
        change = self._controller.set_gains
        return _answered(response, lambda: change(request.joint, Gains.model_validate(given)))

    def on_reset_gains(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Return to the configured gains."""
        response.message = "the configured gains are in force"
        return _answered(response, self._controller.reset_gains)

    def publish(self, snapshot: Snapshot) -> None:
        """Publish the latest report if it is a new one."""
        report = self._controller.report
        if report is None or report is self._published:
            return
        self._published = report
        message = ServoState(joint_names=self._names, max_force_factor=report.factor)
        message.header.stamp = stamp = self._context.stamp(snapshot)
        message.time_step = report.period
        for key in _ARRAYS:
            setattr(message, key, getattr(report, key).tolist())
        if report.gains is not None:
            for field in fields(PidGains):
                setattr(message, field.name, getattr(report.gains, field.name).tolist())
        self._states.publish(message)
        if self._of_joints is not None:
            self._of_joints.publish(report, stamp)

    def _try(self, action: Callable[[], Any]) -> None:
        try:
            action()
        except ControllerError as error:
            self._warn_once(f"refused: {error}")
        else:
            self._warn_once.forget()


class VelocityCurveService:
    """Callback in the executor's thread."""

    def __init__(self, controller: MixedPositionVelocityController) -> None:
        self._controller = controller

    def on_request(
        self, request: SetVelocityCurve.Request, response: SetVelocityCurve.Response
    ) -> SetVelocityCurve.Response:
        """Change how joints travel."""
        given = {
            "velocity_slope": request.slope,
            "min_velocity": request.min_velocity,
            "max_velocity": request.max_velocity,
        }
        change = self._controller.set_velocity_curve
        return _answered(response, lambda: change(request.joint, Curve.model_validate(given)))


def _answered(response: Any, action: Callable[[], object]) -> Any:
    """Run `action`; report in `response` whether it was refused, and why."""
    try:
        action()
    except ValidationError as error:
        response.message = _text(error)
    except ControllerError as error:
        response.message = str(error)
    else:
        response.success = True
    return response


def _text(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, it['loc']))}: {it['msg']} (found {it['input']})".lstrip(": ")
        for it in error.errors()
    )
