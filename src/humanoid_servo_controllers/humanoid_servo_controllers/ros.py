"""The ROS side of the servo controllers: commands, gains, state."""

from collections.abc import Callable
from typing import Any

import numpy as np
from humanoid_control_msgs.msg import ServoState
from humanoid_control_msgs.srv import SetServoGains
from pydantic import ValidationError
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import Trigger

from humanoid_control_common.errors import ControllerError
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.ros.plugin_context import PluginContext, SnapshotListener
from humanoid_servo_controllers.controllers import ServoController, ServoReport
from humanoid_servo_controllers.parameters import Gains


def attach_servo(context: PluginContext, controller: ServoController) -> SnapshotListener:
    """Take `~/commands` and `~/max_force_factor`, publish `~/state`.

    Services: `~/set_gains`, `~/reset_gains`.
    """
    side = ServoSide(context, controller)
    node = context.node
    node.create_subscription(Float64MultiArray, "~/commands", side.on_commands, 4)
    node.create_subscription(Float64, "~/max_force_factor", side.on_factor, 4)
    node.create_service(SetServoGains, "~/set_gains", side.on_set_gains)
    node.create_service(Trigger, "~/reset_gains", side.on_reset_gains)
    return side.publish


class ServoSide:
    """Callbacks in the executor's thread; `publish` in the publisher's thread."""

    def __init__(self, context: PluginContext, controller: ServoController) -> None:
        self._context, self._controller = context, controller
        self._logger = context.node.get_logger()
        self._refused = ""  # text of the latest refusal
        self._names = list(controller.joints.names)
        self._states = context.node.create_publisher(ServoState, "~/state", 10)
        self._published: ServoReport | None = None

    def on_commands(self, message: Float64MultiArray) -> None:
        """Follow a command; log once why one is refused."""
        values = np.array(message.data, dtype=np.float64)
        self._try(lambda: self._controller.receive(values, self._context.now()))

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
        try:
            self._controller.set_gains(request.joint, Gains.model_validate(given))
        except ValidationError as error:
            response.message = "; ".join(
                f"{'.'.join(map(str, it['loc']))}: {it['msg']} (found {it['input']})"
                for it in error.errors()
            )
        except ControllerError as error:
            response.message = str(error)
        else:
            response.success = True
        return response

    def on_reset_gains(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Return to the configured gains."""
        try:
            self._controller.reset_gains()
        except ControllerError as error:
            response.message = str(error)
        else:
            response.success = True
            response.message = "the configured gains are in force"
        return response

    def publish(self, snapshot: Snapshot) -> None:
        """Publish the latest report if it is a new one."""
        report = self._controller.report
        if report is None or report is self._published:
            return
        self._published = report
        message = ServoState(joint_names=self._names, max_force_factor=report.factor)
        message.header.stamp = self._context.stamp(snapshot)
        for key in ("set_point", "process_value", "error", "effort", "friction", "holds"):
            setattr(message, key, getattr(report, key).tolist())
        self._states.publish(message)

    def _try(self, action: Callable[[], Any]) -> None:
        try:
            action()
        except ControllerError as error:
            if str(error) != self._refused:
                self._refused = str(error)
                self._logger.warning(f"refused: {error}")  # noqa: G004 - rclpy formats nothing
        else:
            self._refused = ""
