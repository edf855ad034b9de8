"""Messages work without ROS' generator of their classes."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from std_msgs.msg import String
from rclpy.serialization import deserialize_message, serialize_message
from humanoid_control_common.middleware.type_support import load_type_support
load_type_support()
print(deserialize_message(serialize_message(String(data="there")), String).data)
print(sorted({"lark", "em", "rosidl_generator_py.generate_py_impl"} & set(sys.modules)))
from rosidl_generator_py.generate_py_impl import generate_py
print(generate_py.__name__)
"""


def test_messages_are_converted_without_the_generator_which_can_still_be_imported() -> None:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == ["there", "[]", "generate_py"]
