"""The parameters file of a policy controller that `hc policy load` loads."""

from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import yaml

from humanoid_control_cli.errors import RefusedError
from humanoid_control_common.configuration.config import load_yaml, read_yaml
from humanoid_controllers.policy.parameters import MotionParameters
from humanoid_motion.motion_file.motion import FILE, is_motion, read_motion
from humanoid_policy.trial import try_policy

CONTROLLER: Final = "rl_policy_controller"


def write_parameters(model: Path, motion: Path | None) -> Path:
    """Return a new file with the parameters of the controller that follows `model`.

    The file stays: the control process reads it again whenever the controller is configured anew.

    `motion`: a file of waypoints, or a motion of `hc teach` (its folder or file).

    Raises PolicyRefusedError for a wrong model, ConfigError for a wrong motion.
    """
    try_policy(str(model))
    own: dict[str, object] = {
        "type": "humanoid_control/RlPolicyController",
        "fallback_controllers": ["damping_controller", "zero_torque_controller"],
        "model": str(model),
    }
    if motion is not None:
        own["motion"] = _motion_of(motion).model_dump()
    folder = Path(mkdtemp(prefix="hc_policy_"))
    folder.chmod(0o755)  # the control process may have another user
    file = folder / f"{CONTROLLER}.yaml"
    content = {CONTROLLER: {"ros__parameters": own}}
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file


def named_by_its_files(error: RefusedError, parameters: Path, motion: Path | None) -> RefusedError:
    """Return `error` with the operator's files in the place of `parameters`, which is temporary."""
    text = str(error)
    reason = text.removeprefix(f"{parameters}:2: {CONTROLLER}: ")
    if reason == text:
        return error
    return RefusedError(f"--motion {motion}: {reason}" if motion else reason, error.codes)


def _motion_of(path: Path) -> MotionParameters:
    file = path / FILE if path.is_dir() else path
    if not is_motion(read_yaml(file)):
        return load_yaml(file, MotionParameters)
    motion = read_motion(file).motion
    return MotionParameters(
        joints=list(motion.joints),
        times=(motion.times - motion.times[0]).tolist(),
        positions=motion.positions.ravel().tolist(),
    )
