"""Random targets in REMOTE never make links of Prime touch, by MuJoCo's contacts."""

from dataclasses import dataclass

import numpy as np
import pytest
from test_support.machine import TestMachine

from humanoid_bringup.robot_package import find_robot
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.hardware.hardware_group import load_hardware
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controller_manager.loop.control_loop import ControlLoop, SwitchRequest
from humanoid_controller_manager.loop.mode_controllers import ControllerSlot
from humanoid_controller_manager.safety.limit_stage import Limited, LimitStage
from humanoid_controller_manager.safety.self_collision import SelfCollisionStage
from humanoid_controllers.passive_controllers import DampingController, DampingParameters
from humanoid_controllers.remote import RemoteCommand, RemoteParameters, RemotePolicyController
from humanoid_motion.collision.collision_model import CollisionModel
from humanoid_motion.collision.semantic_description import parse_disabled_pairs

RATE = 200.0  # [Hz]
STAY = 60  # ticks at each target


@dataclass
class Outcome:
    """The results of one run."""

    ticks: int = 0
    contacts: int = 0  # ticks in which two links touched
    slowed: int = 0  # targets whose way was changed to keep links apart
    nearest: float = 1.0  # [m], of two links


class Prime:
    """Prime in REMOTE, in a loop that the test ticks."""

    def __init__(self, distance: float | None) -> None:
        """Make the loop. Without a `distance` [m] the links are not kept apart."""
        robot = find_robot("prime")
        urdf = robot.expand({"use_sim": "true", "real_time_factor": "0"})
        self.description = description = parse_robot_description(urdf, RATE)
        assert robot.srdf_file is not None
        pairs = parse_disabled_pairs(robot.srdf_file.read_text(), str(robot.srdf_file))
        self.model = CollisionModel(urdf, description.joints.names, pairs)
        stage = None if distance is None else SelfCollisionStage(self.model, distance)
        hardware = load_hardware(description)
        facts = RobotFacts(description.joints, description.limits, RATE, hardware.capabilities)
        damping, self.remote = DampingController(), RemotePolicyController()
        damping.on_configure(DampingParameters(damping=6.0), facts)
        self.remote.on_configure(
            RemoteParameters(stiffness=60.0, damping=6.0, command_timeout=1e6), facts
        )
        slots = {
            "damping": ControllerSlot("damping", damping),
            "remote": ControllerSlot("remote", self.remote),
        }
        self.time = 0.0
        self.limits = LimitStage(description.limits, stage)
        self.loop = ControlLoop(
            hardware,
            self.limits,
            slots,
            safe_chain=["damping"],
            update_rate=RATE,
            machine=TestMachine(lambda: self.time),
        )
        self.physics = hardware.members[0].component.data
        self.loop.start("damping", 0.0)
        self.loop.request(SwitchRequest("remote", self.loop.snapshot.switch_number, 1))

    def go(self, targets: int, seed: int, gains: tuple[float, float], speed: float) -> Outcome:
        """Stream random targets within the limits, one after another.

        `gains`: stiffness [Nm/rad] and damping [Nm s/rad] of all joints. `speed` [rad/s]: of the
        joint with the longest way.
        """
        random, outcome = np.random.default_rng(seed), Outcome()
        low, high = self.description.limits.target_lower, self.description.limits.target_upper
        values = np.zeros((5, len(low)))
        values[3:] = np.array(gains)[:, None]
        for _ in range(targets):
            step = random.uniform(low, high) - values[0]
            ticks = 1 + int(np.abs(step).max() / speed * RATE)
            way = values[0] + np.linspace(0.0, 1.0, ticks + 1)[1:, None] * step
            before = self._limited()
            for values[0] in (*way, *[way[-1]] * STAY):
                self.remote.receive(RemoteCommand(values.copy(), self.time))
                self.time += 1.0 / RATE
                self.loop.tick(self.time, 1.0 / RATE, lambda: self.time)
                outcome.ticks += 1
                outcome.contacts += bool(self.physics.ncon)
                position = self.loop.snapshot.state.position
                outcome.nearest = min(outcome.nearest, self.model.clearance(position).distance)
            outcome.slowed += self._limited() > before
        assert self.loop.snapshot.fall is None
        return outcome

    def _limited(self) -> int:
        return int(self.limits.counts[Limited.SELF_COLLISION].max())


FIRM, SOFT = (60.0, 6.0), (20.0, 2.0)  # gains
AT_ONCE = 1e3  # [rad/s]


@pytest.mark.parametrize(("gains", "speed"), [(FIRM, AT_ONCE), (FIRM, 2.0), (SOFT, 1.0)])
def test_random_targets_in_simulation_make_no_contact(gains, speed: float) -> None:
    outcome = Prime(0.02).go(15, 1, gains, speed)
    assert outcome.contacts == 0
    assert outcome.slowed > 1
    assert outcome.nearest > 0.0


def test_without_the_check_the_same_targets_make_contacts() -> None:
    assert Prime(None).go(25, 1, FIRM, AT_ONCE).contacts > 0


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_many_random_targets_in_simulation_make_no_contact(seed: int) -> None:
    assert Prime(0.02).go(1000, seed, FIRM, AT_ONCE).contacts == 0
