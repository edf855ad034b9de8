"""Measure the self-collision check: all distances once, one tick, one way.

It uses Prime's shapes and SRDF. A tick is measured at rest, in free motion, and with links that are
slowed down.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.support.figures import Figure, arguments, durations, figure, report
from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controller_manager.safety.self_collision import SelfCollisionStage
from humanoid_motion.collision.collision_model import CollisionModel
from humanoid_motion.collision.first_conflict import first_conflict
from humanoid_motion.collision.semantic_description import parse_disabled_pairs

if TYPE_CHECKING:
    pass

PERIOD = 1.0 / 200.0  # [s]
DISTANCE = 0.02  # [m]


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    count = 50 if options.quick else 5000
    prime = find_robot("prime")
    assert prime.srdf_file is not None
    urdf = prime.expand({"use_sim": "true"})
    known = parse_robot_description(urdf, 200.0)
    pairs = parse_disabled_pairs(prime.srdf_file.read_text(), str(prime.srdf_file))
    model = CollisionModel(urdf, known.joints.names, pairs)
    values: dict[str, Figure] = {}
    low, high = known.limits.target_lower, known.limits.target_upper
    poses = np.random.default_rng(0).uniform(low, high, (5000, len(low)))
    single = durations([partial(model.clearance, q) for q in poses])
    values["all distances once"] = figure(single, "us", 1e6)
    stage, state = SelfCollisionStage(model, DISTANCE), JointState(len(low))
    state.array.fill(0.0)
    hanging, step = np.zeros(len(low)), np.full(len(low), 1.0 * PERIOD)
    at_rest = durations([partial(stage.allowed, state, hanging, hanging, PERIOD)] * count)
    values["tick at rest"] = figure(at_rest, "us", 1e6)
    moving = durations([partial(stage.allowed, state, hanging, hanging + step, PERIOD)] * count)
    values["tick in free motion, 1 rad/s"] = figure(moving, "us", 1e6)
    near = next(q for q in poses if DISTANCE < model.clearance(q).distance < 2 * DISTANCE)
    state.position[:] = near
    inward = [near + step * sign for sign in np.random.default_rng(1).choice((-1, 1), (count, 14))]
    slowed = durations([partial(stage.allowed, state, near, q, PERIOD) for q in inward])
    values["tick with links at 30 mm"] = figure(slowed, "us", 1e6)
    ways = [np.array([hanging, q]) for q in poses[: count // 10]]
    checks = durations([partial(first_conflict, model, way, DISTANCE) for way in ways])
    values["one way of all joints checked"] = figure(checks, "ms", 1e3)
    report("Keeping links apart", values, options.json)


if __name__ == "__main__":
    main()
