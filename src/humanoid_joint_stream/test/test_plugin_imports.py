"""The modules of the joint stream that the control process imports."""

import subprocess
import sys

PROGRAM = """
import sys
import humanoid_joint_stream.ros
found = {"grpc", "google.protobuf"} & set(sys.modules)
sys.exit(f"imported: {', '.join(found)}" if found else 0)
"""


def test_the_control_process_needs_no_network() -> None:
    """Importing gRPC would stall the callbacks of a robot that runs for 0.2 s: it would fall."""
    run = subprocess.run([sys.executable, "-c", PROGRAM], check=False, capture_output=True)
    assert run.returncode == 0, run.stderr
