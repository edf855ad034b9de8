"""The topics `~/JOINT/state` of control_msgs, for clients of one joint.

The only module of this package that imports control_msgs, which may be absent.
"""

from builtin_interfaces.msg import Time
from control_msgs.msg import JointControllerState

from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_servo_controllers.controllers import ServoReport


class JointControllerStates:
    """Publishes each joint's state while it has a subscriber; used by the publisher's thread."""

    def __init__(self, context: PluginContext, names: list[str]) -> None:
        create, kind = context.node.create_publisher, JointControllerState
        self._publishers = [create(kind, f"~/{name}/state", 10) for name in names]

    def publish(self, report: ServoReport, stamp: Time) -> None:
        """Publish `report`; the message defines the error as process_value - set_point."""
        for row, publisher in enumerate(self._publishers):
            if publisher.get_subscription_count() > 0:
                publisher.publish(self._message(report, row, stamp))

    def _message(self, report: ServoReport, row: int, stamp: Time) -> JointControllerState:
        message = JointControllerState(
            set_point=float(report.set_point[row]),
            process_value=float(report.process_value[row]),
            process_value_dot=float(report.process_value_dot[row]),
            error=float(-report.error[row]),
            time_step=report.period,
            command=float(report.effort[row]),
            antiwindup=report.antiwindup,
        )
        message.header.stamp = stamp
        gains = report.gains
        if gains is not None:
            message.p, message.i, message.d = (float(it[row]) for it in (gains.p, gains.i, gains.d))
            message.i_clamp = float(gains.i_clamp_max[row])
        return message
