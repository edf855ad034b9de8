"""The ROS side of gravity compensation: payloads, and the holding torques."""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from builtin_interfaces.msg import Time
from humanoid_control_msgs.msg import GravityState
from humanoid_control_msgs.msg import Payload as PayloadMessage
from humanoid_control_msgs.srv import SetPayload
from rclpy.node import Node

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_control_common.robot.mit_interface import mit_torque
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.safety.gravity_compensation import GravityCompensation
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_motion.dynamics.payload import Payload

PERIOD: Final = 0.1  # [s] of the robot's time between two states


class GravityTopics:
    """Offers `~/set_payload` and publishes `~/gravity`.

    Args:
        node: of the control process.
        stamp: returns the ROS time of a tick.
    """

    def __init__(
        self,
        node: Node,
        compensation: GravityCompensation,
        limits: LimitStage,
        joints: JointSet,
        stamp: Callable[[Snapshot], Time],
    ) -> None:
        self._compensation, self._limits = compensation, limits
        self._model = compensation.another_model()  # for the publisher's thread
        self._joints, self._stamp = list(joints.names), stamp
        self._logger = node.get_logger()
        self._published = -math.inf  # [s], the loop's time
        self._states = node.create_publisher(GravityState, "~/gravity", 10)
        node.create_service(SetPayload, "~/set_payload", self.on_set_payload)

    def on_set_payload(self, request: Any, response: Any) -> Any:
        """Set what a link carries."""
        asked = request.payload
        try:
            payload = Payload(asked.link, asked.mass, tuple(asked.centre_of_mass.tolist()))
            self._compensation.carry(payload)
        except ConfigError as error:
            response.message = str(error)
            self._logger.warning(str(error))
            return response
        response.success, response.message = True, str(payload)
        self._logger.info(f"payload of {payload}")  # noqa: G004
        return response

    def publish(self, snapshot: Snapshot) -> None:
        """Publish what holds the joints, if it is due."""
        if 0.0 <= snapshot.now - self._published < PERIOD:
            return
        self._published = snapshot.now
        position, payloads = snapshot.state_array[0], self._compensation.payloads
        model = self._model.torque(position, payloads)
        message = GravityState(joint_names=self._joints)
        message.header.stamp = self._stamp(snapshot)
        message.position = position.tolist()
        message.load = self._load(snapshot).tolist()
        message.model = model.tolist()
        if snapshot.compensation is not None:
            message.compensation = snapshot.compensation[1].tolist()
        message.payloads = [
            PayloadMessage(link=it.link, mass=it.mass, centre_of_mass=list(it.centre_of_mass))
            for it in payloads
        ]
        self._states.publish(message)

    def _load(self, snapshot: Snapshot) -> FloatArray:
        """Return the torque [Nm] of every joint by the gains that act, (n,)."""
        command, state = snapshot.command, snapshot.state
        realized = self._limits.realized_stiffness * self._compensation.efficiency
        by_drive: FloatArray = realized * (command.position - state.position)
        return np.where(np.isfinite(realized), by_drive, mit_torque(command, state))
