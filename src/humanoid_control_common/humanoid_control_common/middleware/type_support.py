"""Load what ROS needs of its generator of messages, without the generator."""

import sys
from contextlib import suppress
from importlib import import_module
from typing import Final

_GENERATOR: Final = "rosidl_generator_py.generate_py_impl"


def load_type_support() -> None:
    """Load the package that imports the type supports of messages; call it before `rclpy.init`.

    It would load the generator of message classes, too, with a parser: a tenth of the time in which
    a program with ROS starts. It does without a generator that cannot be imported.
    """
    if _GENERATOR in sys.modules:
        return
    sys.modules[_GENERATOR] = None  # type: ignore[assignment] # Python: cannot be imported
    try:
        with suppress(ImportError):  # another form of it may not do without: rclpy loads it then
            import_module("rosidl_generator_py")
    finally:
        del sys.modules[_GENERATOR]
