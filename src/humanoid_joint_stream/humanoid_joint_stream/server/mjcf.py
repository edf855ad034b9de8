"""The robot's description as a model of MuJoCo.

MuJoCo works for a second in which no other thread of its process runs. So that no state is late, it
works in a process of its own: `python -m humanoid_joint_stream.server.mjcf`.
"""

import json
import subprocess
import sys
from typing import Any, Final

import mujoco

from humanoid_control_common.description.mujoco_input import exclude_neighbours, mujoco_input
from humanoid_control_common.errors import RobotError
from humanoid_joint_client import joint_stream_pb2 as pb

TIMEOUT: Final = 30.0  # [s]


def converted(urdf: str, efforts: dict[str, float]) -> Any:
    """Return the message Mjcf of a robot. `efforts` are the limits of its joints' motors [Nm].

    Raises RobotError if MuJoCo cannot read it. Takes a second.
    """
    words = [sys.executable, "-m", __name__]
    request = json.dumps({"urdf": urdf, "efforts": efforts}).encode()
    try:
        done = subprocess.run(
            words, input=request, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise RobotError(f"MuJoCo takes longer than {TIMEOUT:g} s") from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise RobotError(f"MuJoCo cannot read the description: {lines[-1] if lines else ''}")
    return pb.Mjcf.FromString(done.stdout)


def model(urdf: str, efforts: dict[str, float]) -> Any:
    """Return the message Mjcf. Raises ConfigError, ValueError."""
    found = mujoco_input(urdf)
    spec = mujoco.MjSpec.from_string(found.urdf, assets=found.meshes)
    exclude_neighbours(spec)
    for name, effort in efforts.items():
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
        motor.forcerange = [-effort, effort]
    spec.compile()
    return pb.Mjcf(xml=spec.to_xml(), meshes=found.meshes)


def main() -> int:
    """Convert what comes on stdin."""
    request = json.load(sys.stdin)
    message = model(request["urdf"], request["efforts"])
    sys.stdout.buffer.write(message.SerializeToString())
    return 0


if __name__ == "__main__":
    sys.exit(main())
