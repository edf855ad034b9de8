"""Two controllers side by side on MuJoCo: Prime with gravity, in a loop that the test ticks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from test_support.machine import TestMachine

from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import ModeGains, RobotFacts
from humanoid_controller_manager.hardware.hardware_group import load_hardware
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controller_manager.loop.control_loop import ControlLoop, SwitchRequest
from humanoid_controller_manager.loop.mode_controllers import ClaimedJoints, ControllerSlot
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controllers.passive_controllers import DampingController, DampingParameters
from humanoid_controllers.remote import RemoteCommand, RemoteParameters, RemotePolicyController
from prime_description import expand

RATE = 200.0  # [Hz]
EXAMPLE = Path(__file__).resolve().parents[3] / "docs/examples/two_arms.yaml"


class Prime:
    """Prime in REMOTE as in the example: a controller for each arm, the right wrist held."""

    def __init__(self) -> None:
        description = parse_robot_description(
            expand({"use_sim": "true", "real_time_factor": "0"}), RATE
        )
        hardware = load_hardware(description)
        hardware.hold_gains = ModeGains(20.0, 2.0)
        facts = RobotFacts(description.joints, description.limits, RATE, hardware.capabilities)
        damping = DampingController()
        damping.on_configure(DampingParameters(damping=6.0), facts)
        slots = {"damping": ControllerSlot("damping", damping)}
        self.joints = description.joints
        self.rows: dict[str, Any] = {}
        self.controllers: dict[str, RemotePolicyController] = {}
        for name in ("left_remote", "right_remote", "spare"):
            own = yaml.safe_load(EXAMPLE.read_text())[name.replace("spare", "right_remote")]
            parameters = own["ros__parameters"] | {"command_timeout": 1e6}
            rows = self.joints.indices(parameters.pop("joints"))
            controller = RemotePolicyController()
            controller.on_configure(RemoteParameters(**parameters), facts.of(rows))
            slots[name] = ControllerSlot(name, controller, claimed=ClaimedJoints(rows))
            self.rows[name], self.controllers[name] = rows, controller
        self.rows["held"] = self.joints.indices(
            [f"right_wrist_{axis}" for axis in ("roll", "pitch", "yaw")]
        )
        self.time = 0.0
        self.loop = ControlLoop(
            hardware,
            LimitStage(description.limits),
            slots,
            safe_chain=["damping"],
            update_rate=RATE,
            machine=TestMachine(lambda: self.time),
        )
        self.loop.start("damping", 0.0)

    def run(self, seconds: float) -> Snapshot:
        for _ in range(round(seconds * RATE)):
            self.time += 1.0 / RATE
            self.loop.tick(self.time, 1.0 / RATE, lambda: self.time)
        return self.loop.snapshot

    def switch(self, name: str, ticket: int) -> Snapshot:
        self.loop.request(SwitchRequest(name, self.loop.snapshot.switch_number, ticket))
        snapshot = self.run(0.1)
        assert snapshot.controller == name
        return snapshot

    def command(self, name: str, position: float) -> None:
        """Send controller `name` a target [rad] for all its joints."""
        values = np.zeros((5, len(self.rows[name])))
        values[0], values[3], values[4] = position, 20.0, 2.0
        self.controllers[name].receive(RemoteCommand(values, self.time))


@pytest.fixture
def prime() -> Prime:
    prime = Prime()
    prime.run(2.0)
    prime.switch("left_remote+right_remote", 1)
    return prime


def test_each_controller_moves_its_own_arm_and_the_wrist_is_held(prime: Prime) -> None:
    rows, before = prime.rows, prime.loop.snapshot
    prime.command("left_remote", 0.2)
    snapshot = prime.run(3.0)
    moved = np.abs(snapshot.state.position - before.state.position)
    assert moved[rows["left_remote"]].min() > 0.05
    assert moved[rows["right_remote"]].max() < 0.02
    assert moved[rows["held"]].max() < 0.02
    targets = snapshot.command.position
    assert targets[rows["left_remote"]] == pytest.approx(0.2)
    for others in ("right_remote", "held"):
        assert targets[rows[others]].tolist() == before.command.position[rows[others]].tolist()
    assert snapshot.command.stiffness.tolist() == [20.0] * 14
    assert (snapshot.mode, snapshot.fall) == (Mode.REMOTE, None)


def test_the_other_arm_moves_on_without_a_step_while_one_is_replaced(prime: Prime) -> None:
    left = prime.rows["left_remote"]
    prime.command("left_remote", 0.4)
    positions = [prime.run(1.0 / RATE).command.position[left]]
    number = prime.loop.snapshot.switch_number
    prime.loop.request(SwitchRequest("left_remote+spare", number, 2))
    positions += [prime.run(1.0 / RATE).command.position[left] for _ in range(10)]
    assert prime.loop.snapshot.controller == "left_remote+spare"
    steps = np.diff(positions, axis=0)
    largest = 4.0 / RATE  # [rad] in a tick
    assert np.abs(steps).min() > 0.01
    assert np.abs(steps).max() == pytest.approx(largest)
    assert steps[1:] == pytest.approx(steps[:-1], abs=largest * 1e-3)
    assert prime.loop.snapshot.switch_number == number


def test_a_member_that_fails_leads_the_whole_robot_to_damping(prime: Prime) -> None:
    prime.command("right_remote", float("nan"))
    snapshot = prime.run(1.0 / RATE)
    assert (snapshot.controller, snapshot.mode) == ("damping", Mode.DAMPING)
    assert snapshot.fall is not None
    assert str(snapshot.fall.reason).startswith(
        "right_remote gave an invalid command for right_shoulder_pitch"
    )
    assert snapshot.command.stiffness.tolist() == [0.0] * 14
