"""LOCOMOTION: follows the actions of a learned policy."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

import numpy as np

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Controller, RobotFacts
from humanoid_controllers.policy.live_inputs import LiveInputs
from humanoid_controllers.policy.parameters import PolicyParameters
from humanoid_controllers.policy.policy_check import (
    check_period,
    check_robot,
    joint_rows,
    motion_of,
)
from humanoid_policy.action import ActionLaw, Target
from humanoid_policy.errors import PolicyFailedError
from humanoid_policy.inference import Inference, InferenceResult
from humanoid_policy.model import PolicyModel
from humanoid_policy.motion_reference import reference_at
from humanoid_policy.observation.inputs import ObservationInputs, Reference
from humanoid_policy.reason_codes import (
    POLICY_INFERENCE_FAILED,
    POLICY_LATE,
    POLICY_NOT_FINITE,
    POLICY_OUT_OF_LIMITS,
)
from humanoid_policy.trial import load_tried

# A motion begins at most at this distance from the measured joint: soft arms hang by 0.15 rad below
# their target.
START_TOLERANCE: Final = 0.3  # [rad]
ROUNDING: Final = 1e-5  # [rad] of a motion that reaches a limit; the limit stage removes it
EARLY: Final = 0.1  # [ticks] by which a tick may come too early for an action that is in time


class RlPolicyController(Controller):
    """Requests an action in each policy step, and follows it from the next step on.

    So an action acts exactly one policy period after its observation, on every machine.
    Until the first action the pose measured at activation is held with the policy's gains. The
    target moves no faster than the joints' velocity limits.

    `inference` computes the actions, in a thread of the ROS side; `live` takes its topics.

    Args:
        load: returns the policy of a file.
    """

    Parameters = PolicyParameters
    mode: ClassVar[Mode] = Mode.LOCOMOTION
    needs: ClassVar[Mapping[str, Capability]] = {
        "position": Capability.PER_TICK,
        "stiffness": Capability.PER_MODE,
        "damping": Capability.PER_MODE,
    }

    def __init__(self, load: Callable[[str], PolicyModel] = load_tried) -> None:
        self._load = load

    def on_configure(self, parameters: PolicyParameters, robot: RobotFacts) -> None:
        """See Controller. Raises ConfigError for a model that is wrong or does not fit."""
        model = self._load(parameters.model)
        try:
            self._prepare(model, parameters, robot)
        except ConfigError as error:
            raise ConfigError(f"{parameters.model}: {error}") from error

    def _prepare(self, model: PolicyModel, parameters: PolicyParameters, robot: RobotFacts) -> None:
        metadata, observation = model.metadata, model.observation
        # From here on arrays have the policy's order; `rows` leads to the controller's.
        self._rows = joint_rows(metadata, robot.joints)
        robot = robot.of(self._rows)
        check_period(metadata, robot.update_rate)
        check_robot(metadata, robot)
        self.sources = observation.sources
        self._motion = motion_of(metadata, parameters.motion, robot)
        self._metadata, self._limits = metadata, robot.limits
        self._range = robot.limits.target_lower, robot.limits.target_upper
        self._law = ActionLaw(metadata)
        self.live = LiveInputs(self.sources, parameters)
        self.inference = Inference(
            lambda inputs: model.infer(observation.compute(inputs)), model.interrupt
        )
        self._gains = np.array([metadata.joint_stiffness, metadata.joint_damping])
        # No velocity is commanded where it cannot act.
        self._has_velocity = robot.acts_per_tick("velocity").astype(np.float64)
        self._half_tick = 0.5 / robot.update_rate  # [s]
        self._patience = metadata.policy_period - EARLY / robot.update_rate  # [s]
        self._step = 0  # number of the latest question, over all activations

    def check_start(self, state: JointState, now: float) -> None:
        """See Controller.

        Raises ControllerError if a motion begins far from the measured pose, PolicyFailedError if
        the IMU is silent.
        """
        self.live.present(now)
        if self._motion is not None:
            self._refuse_far(state.position[self._rows], self._motion.at(0.0)[0])

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller."""
        position = state.position[self._rows]
        self._began = self._next = now  # [s]; `_next`: time of the next policy step
        self._asked = False
        self._held: FloatArray | None = None  # see ActionLaw; None before the first action
        self._action = np.zeros(len(self._metadata.action_joint_names))
        self._target = Target(position, np.zeros_like(position), np.zeros_like(position))
        self._position = position.copy()  # commanded

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller. Raises PolicyFailedError for an action that must not be followed."""
        reference = None if self._motion is None else reference_at(self._motion, now - self._began)
        is_step = now >= self._next - self._half_tick and self._takes_action()
        if is_step:
            held_up = now >= self._next + self._half_tick  # steps that were missed stay missed
            self._next = (now if held_up else self._next) + self._metadata.policy_period
            self._request(state, now, reference)
        if self._held is not None and (is_step or reference is not None):
            self._target = self._law.target(self._held, reference)
            self._refuse_beyond(self._target)
        step = self._limits.velocity * period
        change = np.minimum(self._target.position - self._position, step)
        self._position += np.maximum(change, -step, out=change)
        rows = self._rows
        command.position[rows] = self._position
        command.velocity[rows] = self._target.velocity * self._has_velocity
        command.effort[rows] = self._target.effort
        command.array[3:, rows] = self._gains

    def on_deactivate(self) -> None:
        """See Controller. An inference that has no end is interrupted."""
        self.inference.give_up()

    def on_cleanup(self) -> None:
        """See Controller. The thread of the inference ends."""
        self.inference.close()

    def _takes_action(self) -> bool:
        """Take the action of the step before; return False if the inference still has time.

        A loop that is held up between the beginning of a tick and the question asks late: then the
        next tick may come at once. Raises PolicyFailedError.
        """
        if not self._asked:
            return True
        answer = self.inference.answer(self._step)
        if answer is None and self.inference.waited() < self._patience:
            return False
        self._action = self._checked(answer)
        self._held = self._law.held(self._action, self._target.position)
        return True

    def _request(self, state: JointState, now: float, reference: Reference | None) -> None:
        """Request the next action."""
        imu, velocity = self.live.present(now)
        position, speed, effort = state.array[:, self._rows]
        inputs = ObservationInputs(
            position,
            speed,
            effort,
            self._action,
            reference,
            None if imu is None else imu.angular_velocity,
            None if imu is None else imu.gravity,
            velocity,
        )
        self._step += 1
        self._asked = True
        self.inference.ask(self._step, inputs)

    def _checked(self, answer: InferenceResult | None) -> FloatArray:
        """Return the action of an answer. Raises PolicyFailedError."""
        if answer is None:
            period = self._metadata.policy_period
            raise PolicyFailedError(POLICY_LATE, f"no action within {period:g} s")
        if answer.action is None:
            raise PolicyFailedError(POLICY_INFERENCE_FAILED, f"inference failed: {answer.error}")
        wrong = np.flatnonzero(~np.isfinite(answer.action))
        if wrong.size:
            found = answer.action[wrong[0]]
            text = f"{self._metadata.action_joint_names[wrong[0]]}: action {found}"
            raise PolicyFailedError(POLICY_NOT_FINITE, f"{text}, expected a finite number")
        return answer.action

    def _refuse_beyond(self, target: Target) -> None:
        """Raise PolicyFailedError for a target beyond the joints' limits."""
        lower, upper = self._range
        wrong = (target.position < lower - ROUNDING) | (target.position > upper + ROUNDING)
        if wrong.any():
            self._fail_at(wrong, "position", "rad", target.position, self._range)
        most = self._limits.effort
        wrong = np.abs(target.effort) > most
        if wrong.any():
            self._fail_at(wrong, "effort", "Nm", target.effort, (-most, most))

    def _fail_at(
        self,
        wrong: np.ndarray,
        what: str,
        unit: str,
        found: FloatArray,
        allowed: tuple[FloatArray, FloatArray],
    ) -> None:
        i = int(np.flatnonzero(wrong)[0])
        low, high = (limit[i] for limit in allowed)
        raise PolicyFailedError(
            POLICY_OUT_OF_LIMITS,
            f"{self._metadata.joint_names[i]}: {what} {found[i]:.4g} {unit}, allowed {low:.4g} to "
            f"{high:.4g} {unit}",
        )

    def _refuse_far(self, measured: FloatArray, begin: FloatArray) -> None:
        far = np.flatnonzero(~(np.abs(measured - begin) <= START_TOLERANCE))
        if far.size:
            i = far[0]
            raise ControllerError(
                f"{self._metadata.joint_names[i]} is at {measured[i]:.4g} rad, but the motion "
                f"begins at {begin[i]:.4g} rad, expected within {START_TOLERANCE:g} rad: begin the "
                "motion where STANDBY ends (waypoints: the first one at time 0)"
            )
