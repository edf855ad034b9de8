"""Test components and controllers, and a robot that only the test ticks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from test_support.machine import TestMachine

from humanoid_control_common.robot.joints import FloatArray, JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_controller_manager.controller import Controller, Progress, RobotFacts
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.member import Member
from humanoid_controller_manager.hardware_component import (
    CapabilityArray,
    HardwareComponent,
    HardwareInfo,
    JointInfo,
    uniform_capabilities,
)
from humanoid_controller_manager.loop.control_loop import ControlLoop, SwitchRequest
from humanoid_controller_manager.loop.mode_controllers import ControllerSlot
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.safety.limit_stage import LimitStage

RATE = 100.0  # [Hz]
PERIOD = 1.0 / RATE


def uniform_limits(count: int) -> JointLimits:
    """±2 rad, 3 rad/s, 10 Nm."""
    return JointLimits(
        np.full(count, -2.0), np.full(count, 2.0), np.full(count, 3.0), np.full(count, 10.0)
    )


def block(name: str, joints: Sequence[str]) -> HardwareInfo:
    return HardwareInfo(
        name=name,
        plugin="test/Scripted",
        parameters={},
        joints=tuple(JointInfo(joint, {}, 0.0) for joint in joints),
        limits=uniform_limits(len(joints)),
        update_rate=RATE,
        urdf="",
    )


class ScriptedHardware(HardwareComponent):
    """Delivers `measured` (3, n), records the written commands; raises `fail[method]` if given."""

    def __init__(self, measured: float = 0.5) -> None:
        self.measured_at_start = measured
        self.fail: dict[str, Exception] = {}
        self.calls: list[str] = []
        self.written: list[FloatArray] = []
        self.level = Capability.PER_TICK

    def _called(self, method: str) -> None:
        self.calls.append(method)
        if method in self.fail:
            raise self.fail[method]

    def on_configure(self, info: HardwareInfo) -> None:
        self.name = info.name
        count = len(info.joints)
        self.report = SafetyReport(info.name)
        self.measured = np.zeros((3, count))
        self.measured[0] = self.measured_at_start
        self.capability_array = uniform_capabilities(count, self.level)
        self.limit: Callable[[FloatArray], FloatArray] = lambda position: np.full(count, 10.0)
        self._called("on_configure")

    def on_activate(self, state: JointState) -> None:
        self._called("on_activate")
        state.array[:] = self.measured

    def read(self, state: JointState, now: float, period: float) -> None:
        state.array[:] = self.measured
        self._called("read")

    def write(self, command: JointCommand, now: float, period: float) -> None:
        self._called("write")
        self.written.append(command.array.copy())

    def on_deactivate(self) -> None:
        self._called("on_deactivate")

    def capabilities(self) -> CapabilityArray:
        return self.capability_array

    def effort_limit(self, position: FloatArray) -> FloatArray:
        self._called("effort_limit")
        return self.limit(position)

    def safety(self) -> SafetyReport:
        self._called("safety")
        return self.report


class ConfirmingHardware(ScriptedHardware):
    """Has gains per mode, which it confirms when `confirmed` is set; resets faults on request."""

    def __init__(self, measured: float = 0.5, *, confirmed: bool = True) -> None:
        super().__init__(measured)
        self.confirmed = confirmed
        self.modes: list[tuple[Mode, int]] = []
        self.stiffness: FloatArray | None = None

    def on_configure(self, info: HardwareInfo) -> None:
        super().on_configure(info)
        np.minimum(self.capability_array[3:], Capability.PER_MODE, out=self.capability_array[3:])

    def mode_changed(self, mode: Mode, switch_number: int) -> None:
        self.modes.append((mode, switch_number))
        self._called("mode_changed")

    def impedance_confirmed(self) -> bool:
        self._called("impedance_confirmed")
        return self.confirmed

    def realized_stiffness(self) -> FloatArray | None:
        self._called("realized_stiffness")
        return self.stiffness

    def reset_faults(self) -> None:
        self._called("reset_faults")


class CyclingHardware(ScriptedHardware):
    """Works between ticks; records its deadlines."""

    def __init__(self, measured: float = 0.5) -> None:
        super().__init__(measured)
        self.deadlines: list[float] = []
        self.correction = 0.0

    def idle_until(self, deadline: float) -> None:
        self.deadlines.append(deadline)
        self._called("idle_until")

    def tick_correction(self) -> float:
        self._called("tick_correction")
        return self.correction


Behaviour = Callable[[JointState, JointCommand, float, float], None]


class ScriptedController(Controller):
    """Writes `commanded` gains and the measured pose, or calls `behave`."""

    def __init__(
        self, mode: Mode, needs: Mapping[str, Capability], stiffness: float, damping: float
    ) -> None:
        self.mode = mode  # type: ignore[misc]  # of the instance
        self.needs = needs  # type: ignore[misc]
        self.commanded = stiffness, damping
        self.behave: Behaviour | None = None
        self.fail: dict[str, Exception] = {}
        self.remarks = ""
        self.calls: list[str] = []
        self.checks = 0  # of its start
        self.activations: list[tuple[FloatArray, FloatArray, float]] = []

    def _called(self, method: str) -> None:
        self.calls.append(method)
        if method in self.fail:
            raise self.fail[method]

    def on_configure(self, parameters: object, robot: RobotFacts) -> None:
        """Nothing to configure."""

    def check_start(self, state: JointState, now: float) -> None:
        self.checks += 1
        if "check_start" in self.fail:
            raise self.fail["check_start"]

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        self._called("on_activate")
        self.activations.append((state.array.copy(), command.array.copy(), now))

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        self._called("update")
        if self.behave is not None:
            self.behave(state, command, now, period)
            return
        command.array.fill(0.0)
        command.position[:] = state.position
        command.stiffness[:], command.damping[:] = self.commanded

    def on_deactivate(self) -> None:
        self._called("on_deactivate")

    @property
    def remark(self) -> str:
        if "remark" in self.fail:
            raise self.fail["remark"]
        return self.remarks


class ReportingController(ScriptedController):
    """Reports progress, or raises it."""

    fraction: float | Exception = 0.0

    @property
    def progress(self) -> Progress:
        if isinstance(self.fraction, Exception):
            raise self.fraction
        return Progress(0, 1, self.fraction)


STIFF_NEEDS = {"position": Capability.PER_TICK, "stiffness": Capability.PER_MODE}


class Rig:
    """A loop with scripted components and controllers on a clock that only the test advances.

    Controllers: `limp`, `damped`, `standby` and `remote` (need stiffness), `torque` (a stiff mode
    that needs none, so it is never prepared).
    """

    def __init__(
        self,
        components: Mapping[str, tuple[ScriptedHardware, Sequence[str]]] | None = None,
        *,
        joints: Sequence[str] | None = None,
        fallbacks: Mapping[str, tuple[str, ...]] | None = None,
        safe_chain: Sequence[str] = ("damped", "limp"),
        update_rate: float = RATE,
    ) -> None:
        self.arm = ScriptedHardware()
        components = components or {"arm": (self.arm, ("a", "b", "c"))}
        names = joints or [joint for _, group in components.values() for joint in group]
        joint_set = JointSet(tuple(names))
        self.group = HardwareGroup(
            joint_set,
            [
                Member(
                    block(name, group),
                    component,
                    joint_set.indices(group),
                    JointState(len(group)),
                    JointCommand(len(group)),
                )
                for name, (component, group) in components.items()
            ],
        )
        self.group.configure()
        self.controllers = {
            "limp": ScriptedController(Mode.ZERO_TORQUE, {}, 0.0, 0.0),
            "damped": ScriptedController(Mode.DAMPING, {}, 0.0, 6.0),
            "standby": ReportingController(Mode.STANDBY, STIFF_NEEDS, 20.0, 2.0),
            "remote": ScriptedController(Mode.REMOTE, STIFF_NEEDS, 20.0, 2.0),
            "torque": ScriptedController(Mode.LOCOMOTION, {}, 0.0, 1.0),
        }
        self.time = 0.0  # [s]: the loop's
        self.heart_time = 0.0  # [s]: the monotonic one
        self.system_time = 0  # [ns]
        self.changes = 0
        self.limits = LimitStage(uniform_limits(len(joint_set)))
        chains = fallbacks or {}
        self.loop = ControlLoop(
            self.group,
            self.limits,
            {
                name: ControllerSlot(name, controller, chains.get(name, ()))
                for name, controller in self.controllers.items()
            },
            safe_chain=safe_chain,
            update_rate=update_rate,
            machine=TestMachine(lambda: self.heart_time, lambda: self.system_time),
        )
        self._tickets = 0

    def start(self, initial: str = "limp") -> Rig:
        self.loop.start(initial, self.time)
        self.loop.on_change = self._count_change
        return self

    def _count_change(self) -> None:
        self.changes += 1

    def tick(self, count: int = 1) -> Snapshot:
        for _ in range(count):
            self.time += PERIOD
            self.loop.tick(self.time, PERIOD, lambda: self.time)
        return self.loop.snapshot

    def ask(self, controller: str, expected: int | None = None) -> int:
        """Put a request; return its ticket. The number expected is the present one."""
        self._tickets += 1
        number = self.loop.snapshot.switch_number if expected is None else expected
        self.loop.request(SwitchRequest(controller, number, self._tickets))
        return self._tickets

    def ask_down(self, controller: str = "damped") -> int:
        """Put a request that is never outdated."""
        self._tickets += 1
        self.loop.request(SwitchRequest(controller, None, self._tickets))
        return self._tickets

    def run(self, controller: str) -> Snapshot:
        """Bring `controller` into force."""
        self.ask(controller)
        snapshot = self.tick()
        assert snapshot.controller == controller
        return snapshot


@pytest.fixture(scope="session")
def rig() -> type[Rig]:
    """Make rigs."""
    return Rig


@pytest.fixture(scope="session")
def scripted_hardware() -> type[ScriptedHardware]:
    return ScriptedHardware


@pytest.fixture(scope="session")
def confirming_hardware() -> type[ConfirmingHardware]:
    return ConfirmingHardware


@pytest.fixture(scope="session")
def cycling_hardware() -> type[CyclingHardware]:
    return CyclingHardware


@pytest.fixture(scope="session")
def limits_of() -> Callable[[int], JointLimits]:
    return uniform_limits
