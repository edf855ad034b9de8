"""States of the robot as numpy arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_joint_client.status import Execution, Status

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JointStates:
    """The state of one tick. Times in [ns] of the robot's clock; arrays in the robot's order."""

    acquired: int
    arrived: int  # at this client, converted to the robot's clock
    position: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    load: FloatArray  # [Nm]
    tick: int
    late_tick: bool
    execution: Execution
    received_key: int  # of the latest update received; 0: none
    received: int
    status: Status  # of that update
    message: str  # why it was rejected
    applied_key: int  # of the update in force
    applied: int  # time of the tick that executed it first
    position_clipped: bool
    load_clipped: bool
    short_horizon: bool


@dataclass(frozen=True, slots=True)
class Fault:
    """A present fault."""

    id: int
    cause: str
    time: int  # [ns] of the robot's clock
    clearable: bool


def state_of(message: Any, arrived: int) -> JointStates:
    """Return the state in a message."""
    last = message.last_command
    return JointStates(
        message.acquired,
        arrived,
        np.array(message.position),
        np.array(message.velocity),
        np.array(message.load),
        message.tick,
        message.late_tick,
        Execution(message.execution),
        last.user_command_key,
        last.received,
        Status(last.status),
        last.message,
        last.applied_key,
        last.applied,
        last.position_clipped,
        last.load_clipped,
        last.short_horizon,
    )
