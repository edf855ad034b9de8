"""Generate the Python module of the joint stream's messages from their .proto file.

    python scripts/generate_joint_stream.py

`protoc` writes a check into its module that refuses any older library, such as the one of Ubuntu
24.04. The messages need no newer version than 3.20, so the check is removed.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = ROOT / "src/humanoid_joint_client"
PROTO: Final = Path("humanoid_joint_client/joint_stream.proto")
MODULE: Final = PROTO.with_name("joint_stream_pb2.py")
_CHECK: Final = re.compile(
    r"^from google\.protobuf import runtime_version.*\n"
    r"|^_runtime_version\.ValidateProtobufRuntimeVersion\((?:.*\n)+?\)\n",
    re.MULTILINE,
)


def generated() -> str:
    """Return the text of the module. Raises CalledProcessError, FileNotFoundError."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["protoc", "-I.", f"--python_out={folder}", str(PROTO)]
        subprocess.run(words, cwd=PACKAGE, check=True)
        text = (Path(folder) / MODULE).read_text(encoding="utf-8")
    return _CHECK.sub("", text)


def main() -> int:
    """Write the module."""
    (PACKAGE / MODULE).write_text(generated(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
