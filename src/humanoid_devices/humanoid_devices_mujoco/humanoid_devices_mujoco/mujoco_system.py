"""The robot in MuJoCo as a hardware component."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

import mujoco
import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.hardware.simulated_servos import SimulatedSystem
from humanoid_controller_manager.hardware_component import HardwareInfo
from humanoid_devices_mujoco.model import BIAS_POSITION, BIAS_VELOCITY, build_model, overlaps
from humanoid_devices_mujoco.reason_codes import SIMULATION_DIVERGED
from humanoid_devices_mujoco.settings import parse_settings

logger = logging.getLogger(__name__)

# MuJoCo's warnings of values that are not finite or above 1e10, the most informative first. MuJoCo
# resets its data at such a value, so it never computes with NaN, and counts the warning.
BAD_VALUES = {
    mujoco.mjtWarning.mjWARN_BADCTRL: "command",
    mujoco.mjtWarning.mjWARN_BADQACC: "acceleration",
    mujoco.mjtWarning.mjWARN_BADQVEL: "velocity",
    mujoco.mjtWarning.mjWARN_BADQPOS: "position",
}


class MujocoSystem(SimulatedSystem):
    """The joints of one <ros2_control> block, simulated; `write` advances time by one period.

    `model` and `data` are MuJoCo's, from `on_configure` on. They belong to the loop's thread; other
    threads queue orders (`request_reset`, `apply_wrench`), which the next `read` carries out.

    A simulation that diverges returns to the start of the last period, at rest, and stays there
    with a FAULT until it is reset. Its time continues: it never stops or runs backwards, not even
    in a reset.
    """

    model: mujoco.MjModel
    data: mujoco.MjData

    def on_configure(self, info: HardwareInfo) -> None:
        """See HardwareComponent. Raises ConfigError before anything is simulated."""
        settings = parse_settings(info)
        self.model = build_model(info, settings)
        self.data = mujoco.MjData(self.model)
        self._real_time_factor = settings.real_time_factor
        self._timestep = settings.timestep
        self._steps_per_period = settings.steps_per_period
        self._steps = 0
        self._teleports = 0
        self._name = info.name
        super().on_configure(info)
        self._measured = np.zeros(len(info.joints))  # [rad], by the latest `read`
        self._orders: deque[Callable[[], None]] = deque()
        self._map_arrays(info)
        self._reset()
        for text in overlaps(self.model, self.data):
            logger.warning("%s", text)
        if mujoco.get_mju_user_warning() is None:  # else MuJoCo writes a file where it is run
            mujoco.set_mju_user_warning(_log_warning)

    def on_activate(self, state: JointState) -> None:
        """See HardwareComponent: joints are at their initial positions, without torque."""
        self._reset()
        self._measure(state)

    def read(self, state: JointState, now: float, period: float) -> None:
        """See HardwareComponent. Effort is what was applied in the last physics step."""
        while self._orders:
            self._orders.popleft()()
        self.servos.read()
        self._measure(state)

    def write(self, command: JointCommand, now: float, period: float) -> None:
        """See HardwareComponent: advances the simulation by one period of the update rate."""
        self._steps += self._steps_per_period
        if self._report.level is not SafetyLevel.OK:
            return
        self._set_command(self.servos.acting(command, self._measured))
        self._last_qpos[:] = self._qpos
        mujoco.mj_step(self.model, self.data, self._steps_per_period)
        if np.count_nonzero(self._warnings.number):
            self._check_values()

    def on_deactivate(self) -> None:
        """See HardwareComponent."""
        self._limp()

    def safety(self) -> SafetyReport:
        """See HardwareComponent: FAULT from a divergence to the reset."""
        return self._report

    @property
    def time(self) -> float:
        """See HardwareComponent: steps since `on_configure`, resets included."""
        return self._steps * self._timestep

    @property
    def real_time_factor(self) -> float:
        """See HardwareComponent."""
        return self._real_time_factor

    @property
    def teleports(self) -> int:
        """See HardwareComponent: number of times that the joints were placed."""
        return self._teleports

    def reset_faults(self) -> None:
        """See HardwareComponent: resets a simulation that diverged."""
        if self._report.level is not SafetyLevel.OK:
            self.request_reset()

    def request_reset(self) -> None:
        """Let the next `read` put the joints at their initial positions, at rest, without wrenches.

        May be called from any thread.
        """
        self._orders.append(self._reset)

    def apply_wrench(self, body: str, force: Sequence[float], torque: Sequence[float]) -> None:
        """Apply `force` [N] and `torque` [Nm] to `body` from the next `read` on.

        Both in world axes, shape (3,), at the body's centre of mass, until changed or reset. A link
        fixed to another belongs to that body. May be called from any thread.

        Raises ConfigError for an unknown body (lists the known) and for values that are not finite.
        """
        number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, body)
        if number <= 0:  # 0 is the world, which doesn't move
            known = ", ".join(self.model.body(i).name for i in range(1, self.model.nbody))
            raise ConfigError(f"wrench on unknown body '{body}'; known: {known}")
        wrench = np.array([*force, *torque], dtype=np.float64)
        if wrench.shape != (6,) or not np.isfinite(wrench).all():
            raise ConfigError(
                f"wrench on body '{body}': force {force}, torque {torque}; "
                "expected three finite numbers each"
            )
        self._orders.append(partial(np.copyto, self.data.xfrc_applied[number], wrench))

    def _map_arrays(self, info: HardwareInfo) -> None:
        """Set the views of MuJoCo's arrays and the indices of the block's joints."""
        model, data = self.model, self.data
        joints = [model.joint(name) for name in info.joint_set.names]
        self._positions = np.array([joint.qposadr[0] for joint in joints])
        self._velocities = np.array([joint.dofadr[0] for joint in joints])
        self._initial_qpos = np.zeros(model.nq)
        self._initial_qpos[self._positions] = [joint.initial_position for joint in info.joints]
        self._last_qpos = self._initial_qpos.copy()
        self._qpos, self._qvel = data.qpos, data.qvel
        self._ctrl, self._actuator_force = data.ctrl, data.actuator_force
        self._bias_position = model.actuator_biasprm[:, BIAS_POSITION]
        self._bias_velocity = model.actuator_biasprm[:, BIAS_VELOCITY]
        self._feedback = np.empty(model.nu)
        self._warnings = data.warning

    def _measure(self, state: JointState) -> None:
        # The indices are valid; without mode="clip" numpy would buffer `out`.
        self._qpos.take(self._positions, out=state.position, mode="clip")
        self._measured[:] = state.position
        self._qvel.take(self._velocities, out=state.velocity, mode="clip")
        state.effort[:] = self._actuator_force

    def _set_command(self, command: JointCommand) -> None:
        np.multiply(command.stiffness, command.position, out=self._ctrl)
        np.multiply(command.damping, command.velocity, out=self._feedback)
        self._ctrl += self._feedback
        self._ctrl += command.effort
        np.negative(command.stiffness, out=self._bias_position)
        np.negative(command.damping, out=self._bias_velocity)

    def _limp(self) -> None:
        self._ctrl[:] = 0.0
        self._bias_position[:] = 0.0
        self._bias_velocity[:] = 0.0

    def _reset(self) -> None:
        self._place(self._initial_qpos)
        self._report = SafetyReport(self._name)

    def _check_values(self) -> None:
        for warning, what in BAD_VALUES.items():
            if self._warnings.number[warning]:
                self._hold(what)
                return

    def _hold(self, what: str) -> None:
        message = f"simulation diverged before {self.time:.3f} s: {what} not finite or huge"
        logger.error("%s: %s", self._name, message)
        self._place(self._last_qpos)
        codes = (SIMULATION_DIVERGED.name,)
        self._report = SafetyReport(self._name, SafetyLevel.FAULT, message=message, codes=codes)

    def _place(self, qpos: FloatArray) -> None:
        """Put the joints at `qpos`, at rest, limp and without wrenches; clear the warnings."""
        mujoco.mj_resetData(self.model, self.data)
        self._teleports += 1
        self._limp()
        self._qpos[:] = qpos
        self.data.time = self.time
        mujoco.mj_forward(self.model, self.data)


def _log_warning(message: str) -> None:
    logger.warning("MuJoCo: %s", message)
