"""Environment variables of all processes of the stack, which libraries read when they load."""

import os
from collections.abc import Mapping
from typing import Final

ENVIRONMENT: Final[Mapping[str, str]] = {
    # numpy would start a thread for each core: work for arrays larger than those of a robot.
    "OPENBLAS_NUM_THREADS": "1",
    # Nothing is drawn: MuJoCo would start a program that searches for a display.
    "MUJOCO_GL": "disable",
}


def set_library_environment() -> None:
    """Set these variables, before this process imports the libraries; the user's values stay."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
