"""Measure the time that a policy takes for an action."""

from typing import Final, NamedTuple

import numpy as np

from humanoid_control_common.machine.machine import Machine
from humanoid_policy.model import PolicyModel
from humanoid_policy.observation.inputs import ObservationInputs, Reference

REPETITIONS: Final = 2000
LONGEST: Final = 1.0  # [s] of a measurement: a policy that is too slow is known earlier


class Times(NamedTuple):
    """Times of observation and inference together."""

    median: float  # [s]
    most: float  # [s], of 99 %


def measured(model: PolicyModel, machine: Machine, repetitions: int = REPETITIONS) -> Times:
    """Return the times of `model` on a machine, with inputs of zeros.

    A slow model is repeated less often: the measurement ends after LONGEST.
    """
    inputs = still_inputs(model)
    found: list[float] = []
    end = machine.clock() + LONGEST
    while len(found) < repetitions and (begin := machine.clock()) < end:
        model.infer(model.observation.compute(inputs))
        found.append(machine.clock() - begin)
    return Times(*np.percentile(found, (50.0, 99.0)).tolist())


def still_inputs(model: PolicyModel) -> ObservationInputs:
    """Return inputs at rest at the default positions, for all terms."""
    metadata = model.metadata
    default, zeros = np.array(metadata.default_joint_pos), np.zeros(len(metadata.joint_names))
    action, three = np.zeros(len(metadata.action_joint_names)), np.zeros(3)
    reference = Reference(default, zeros, np.zeros(1))
    return ObservationInputs(default, zeros, zeros, action, reference, three, -np.eye(3)[2], three)
