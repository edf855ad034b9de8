"""The gravity compensation of a running robot: payloads, and the holding torques."""

import time
from typing import Final

import numpy as np
from humanoid_control_msgs.msg import GravityState
from humanoid_control_msgs.msg import Payload as PayloadMessage
from humanoid_control_msgs.srv import SetPayload

from humanoid_control_cli.client import Client
from humanoid_control_cli.description import described_robot, require_measured
from humanoid_control_cli.errors import RefusedError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_common.rules.modes import SAFE_MODES
from humanoid_motion.dynamics.gravity_model import GravityModel
from humanoid_motion.dynamics.payload import Payload
from humanoid_motion.dynamics.payload_identification import RestingPose

STATE: Final = "controller_manager/gravity"
SET: Final = "controller_manager/set_payload"
SAMPLES: Final = 10  # states of a pose: a second
AT_REST: Final = 0.005  # [rad] that a resting joint moves at most meanwhile
OLD: Final = 0.3  # [s] in which states that waited in the queue arrive


class GravityClient:
    """Follows the state of the compensation. Raises NoAnswerError without a control process."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._modes = ModeClient(client)
        self._states: list[GravityState] = []
        client.subscribe(GravityState, STATE, self._states.append)

    def payloads(self) -> list[Payload]:
        """Return what the links carry."""
        (state,) = self._next(1)
        return [Payload(it.link, it.mass, tuple(it.centre_of_mass)) for it in state.payloads]

    def carry(self, payload: Payload) -> str:
        """Set what a link carries; return it in words. Raises RefusedError, NoAnswerError."""
        message = PayloadMessage(
            link=payload.link, mass=payload.mass, centre_of_mass=list(payload.centre_of_mass)
        )
        request = SetPayload.Request(payload=message)
        return str(self._client.accepted(SetPayload, SET, request).message)

    def model(self, link: str) -> GravityModel:
        """Return the masses of the robot, to identify what `link` carries.

        Raises RefusedError if joints that move the link are mocked, ConfigError for an unknown
        link, MeshError, NoAnswerError.
        """
        robot = described_robot(self._client)
        model = GravityModel(robot.urdf, robot.joints.names)
        model.check_link(link)
        require_measured(robot, model.joints_above(link), link)
        return model

    def resting_pose(self) -> RestingPose:
        """Return mean angles and torques of a second.

        Raises RefusedError in a soft mode and if joints do not come to rest, NoAnswerError.
        """
        self._client.wait(lambda: False, OLD)
        self._require_stiff_joints()
        deadline = time.monotonic() + self._client.timeout
        while True:
            states = self._next(SAMPLES)
            self._require_stiff_joints()
            positions = np.array([it.position for it in states])
            moved = np.ptp(positions, axis=0)
            if moved.max() <= AT_REST:
                loads = np.array([it.load for it in states])
                return RestingPose(positions.mean(axis=0), loads.mean(axis=0))
            if time.monotonic() > deadline:
                name = states[0].joint_names[int(moved.argmax())]
                raise RefusedError(
                    f"{name} moves: by {moved.max():.3f} rad in a second, expected {AT_REST:g} rad "
                    "at most: wait until it rests"
                )

    def _require_stiff_joints(self) -> None:
        """Raise RefusedError in a soft mode, in which joints rest without holding their load."""
        mode = self._modes.statement()
        if mode.mode in SAFE_MODES:
            raise RefusedError(
                f"in force is {mode.in_force}: the joints must be stiff: hc mode standby --wait"
            )

    def _next(self, count: int) -> list[GravityState]:
        """Return the next states."""
        self._states.clear()
        if not self._client.wait(lambda: len(self._states) >= count, self._client.timeout):
            raise self._client.no_control_process()
        return self._states[:count]
