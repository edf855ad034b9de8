"""Real controllers on mock hardware that can fail, on a clock that only tests advance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
import pytest
from numpy.typing import ArrayLike
from test_support.machine import TestMachine

from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.robot.joints import FloatArray, JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_control_common.rules.safety import SafetyMonitor, SafetyReport
from humanoid_controller_manager.controller import Controller, Progress, RobotFacts
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.member import Member
from humanoid_controller_manager.hardware_component import CapabilityArray, HardwareInfo, JointInfo
from humanoid_controller_manager.loop.control_loop import ControlLoop
from humanoid_controller_manager.loop.mode_controllers import ControllerSlot
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controllers.mode_manager.answer import Answer
from humanoid_controllers.mode_manager.emergency_stop import EmergencyStop
from humanoid_controllers.mode_manager.mode_manager import ModeManager
from humanoid_controllers.passive_controllers import DampingController, ZeroTorqueController
from humanoid_controllers.remote import RemotePolicyController
from humanoid_controllers.standby import StandbyController
from humanoid_controllers.trajectory.controller import JointTrajectoryController

C = TypeVar("C", bound=Controller)
JOINTS = ("shoulder", "elbow", "wrist")
RATE = 100.0  # [Hz]
PERIOD = 1.0 / RATE
STANDBY_PARAMETERS: dict[str, object] = {
    "stiffness": 20.0,
    "damping": 2.0,
    "sequence": ["clear", "ready"],
    "poses": {
        "clear": {"duration": 0.3, "positions": [0.5, -0.5, 0.0]},
        "ready": {"duration": 0.2, "positions": [0.2, -0.2, 0.4]},
    },
}
REMOTE_PARAMETERS: dict[str, object] = {
    "stiffness": 20.0,
    "damping": 2.0,
    "command_timeout": 0.1,
    "on_stale": "passive",
}
TRAJECTORY_PARAMETERS: dict[str, object] = {
    "stiffness": 20.0,
    "damping": 2.0,
    "allow_partial_joints_goal": True,
}
PARAMETERS: dict[type[Controller], dict[str, object]] = {
    ZeroTorqueController: {},
    DampingController: {"damping": 6.0},
    StandbyController: STANDBY_PARAMETERS,
    RemotePolicyController: REMOTE_PARAMETERS,
    JointTrajectoryController: TRAJECTORY_PARAMETERS,
}


def joint_limits(count: int = len(JOINTS)) -> JointLimits:
    """±2 rad, 3 rad/s, 10 Nm."""
    return JointLimits(
        np.full(count, -2.0), np.full(count, 2.0), np.full(count, 3.0), np.full(count, 10.0)
    )


FACTS = RobotFacts(JointSet(JOINTS), joint_limits(), RATE)


class Configure(Protocol):
    """See `configured`."""

    def __call__(self, controller_type: type[C], **changes: object) -> C: ...


def configured(controller_type: type[C], **changes: object) -> C:
    """A controller of `controller_type` with the parameters above and `changes`."""
    controller = controller_type()
    raw = {**PARAMETERS[controller_type], **changes}
    controller.on_configure(controller_type.Parameters.model_validate(raw), FACTS)
    return controller


def measured(position: ArrayLike) -> JointState:
    state = JointState(len(JOINTS))
    state.array.fill(0.0)
    state.position[:] = position
    return state


class FailingSystem(GenericSystem):
    """Mock hardware that reports `fault`, and raises in the methods named in `fail`."""

    def __init__(self) -> None:
        self.fault: SafetyReport | None = None
        self.fail: set[str] = set()
        self.confirmed = True
        self.velocity: float | None = None  # [rad/s] reported for every joint
        self.written: list[FloatArray] = []
        self.measured_at_write: list[FloatArray] = []

    def read(self, state: JointState, now: float, period: float) -> None:
        super().read(state, now, period)
        if self.velocity is not None:
            state.velocity[:] = self.velocity
        if "read" in self.fail:
            raise RuntimeError("read broke")

    def write(self, command: JointCommand, now: float, period: float) -> None:
        self.measured_at_write.append(self._position.copy())
        super().write(command, now, period)
        self.written.append(command.array.copy())
        if "write" in self.fail:
            raise RuntimeError("write broke")

    def safety(self) -> SafetyReport:
        return self.fault or super().safety()

    def capabilities(self) -> CapabilityArray:
        found = super().capabilities().copy()
        found[3:] = Capability.PER_MODE
        return found

    def mode_changed(self, mode: Mode, switch_number: int) -> None:
        """Nothing to tell."""

    def realized_stiffness(self) -> None:
        return None

    def impedance_confirmed(self) -> bool:
        return self.confirmed


class Saboteur(Controller):
    """A controller that works until `fail` names the method that fails, or the command."""

    def __init__(self, inner: Controller) -> None:
        self.inner = inner
        self.mode = inner.mode  # type: ignore[misc]  # of the instance
        self.needs = inner.needs  # type: ignore[misc]
        self.fail = ""
        self.active = False

    def on_configure(self, parameters: StrictModel, robot: RobotFacts) -> None:
        """Do nothing: the inner controller is configured already."""

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        if self.fail == "on_activate":
            raise RuntimeError("will not start")
        self.inner.on_activate(state, command, now)
        self.active = True

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        if self.fail == "update":
            raise RuntimeError("broke")
        self.inner.update(state, command, now, period)
        if self.fail == "nan":
            command.position[0] = np.nan

    def on_deactivate(self) -> None:
        self.active = False
        self.inner.on_deactivate()


class ReportingSaboteur(Saboteur):
    """A saboteur that passes progress and remark on."""

    @property
    def progress(self) -> Progress | None:
        return self.inner.progress

    @property
    def remark(self) -> str:
        return self.inner.remark


NAMES = {
    Mode.ZERO_TORQUE: "zero_torque_controller",
    Mode.DAMPING: "damping_controller",
    Mode.STANDBY: "standby_controller",
    Mode.REMOTE: "remote_policy_controller",
}


class Robot:
    """Loop, controllers and mode manager, as in the control process, without threads and ROS."""

    def __init__(
        self,
        deadlines: dict[str, float] | None = None,
        heartbeats: dict[str, float] | None = None,
        hardware: type[FailingSystem] = FailingSystem,
    ) -> None:
        self.hardware = hardware()
        info = HardwareInfo(
            name="arm",
            plugin="test/Failing",
            parameters={},
            joints=tuple(JointInfo(name, {}, 0.1) for name in JOINTS),
            limits=joint_limits(),
            update_rate=RATE,
            urdf="",
        )
        count = len(JOINTS)
        member = Member(info, self.hardware, np.arange(count), JointState(count), JointCommand(3))
        group = HardwareGroup(FACTS.joints, [member])
        group.configure()
        self.controllers: dict[Mode, Saboteur] = {
            Mode.ZERO_TORQUE: Saboteur(configured(ZeroTorqueController)),
            Mode.DAMPING: Saboteur(configured(DampingController)),
            Mode.STANDBY: ReportingSaboteur(configured(StandbyController)),
            Mode.REMOTE: Saboteur(configured(RemotePolicyController)),
        }
        self.time = 0.0  # [s], of the loop and of safety
        self.loop = ControlLoop(
            group,
            LimitStage(joint_limits()),
            {
                NAMES[mode]: ControllerSlot(NAMES[mode], controller)
                for mode, controller in self.controllers.items()
            },
            safe_chain=("damping_controller", "zero_torque_controller"),
            update_rate=RATE,
            machine=TestMachine(lambda: self.time),
        )
        self.safety = SafetyMonitor(deadlines or {})
        self.stop = EmergencyStop(heartbeats)
        self.modes = ModeManager(self.loop, NAMES.get, self.safety, stop=self.stop)
        self.loop.start("zero_torque_controller", self.time)

    @property
    def mode(self) -> Mode:
        return self.loop.snapshot.mode

    @property
    def message(self) -> str:
        return self.modes.statement.reason.text

    def ask(self, intent: Intent) -> Answer:
        return self.modes.handle(intent, self.time)

    def observe(self) -> None:
        self.modes.observe(self.time)

    def tick(self, count: int = 1) -> Snapshot:
        """Run ticks of the loop; the mode manager handles each of them."""
        for _ in range(count):
            self.time += PERIOD
            self.loop.tick(self.time, PERIOD, lambda: self.time)
            self.observe()
        return self.loop.snapshot

    def enter(self, mode: Mode) -> Robot:
        """Go to `mode` by the intents of an operator; STANDBY is finished then."""
        ways = {
            Mode.ZERO_TORQUE: [],
            Mode.DAMPING: [Intent.DAMP],
            Mode.STANDBY: [Intent.DAMP, Intent.LOAD],
            Mode.REMOTE: [Intent.DAMP, Intent.LOAD, Intent.START_REMOTE],
        }
        for intent in ways[mode]:
            assert self.ask(intent).accepted
            self.tick(60 if intent is Intent.LOAD else 1)
        assert self.mode is mode
        return self


@pytest.fixture(scope="session")
def robot_type() -> type[Robot]:
    """Make robots."""
    return Robot


@pytest.fixture(scope="session")
def failing_system() -> type[FailingSystem]:
    return FailingSystem


@pytest.fixture
def robot() -> Robot:
    return Robot()


@pytest.fixture(scope="session")
def facts() -> RobotFacts:
    return FACTS


@pytest.fixture(scope="session")
def make() -> Configure:
    """Configured controllers by type, see `configured`."""
    return configured


@pytest.fixture(scope="session")
def at() -> Callable[[ArrayLike], JointState]:
    """Measured states by position."""
    return measured
