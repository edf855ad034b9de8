"""`hc` loads its libraries without the threads that they start by default."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from humanoid_control_common.machine.library_environment import ENVIRONMENT

# Prints the number of threads, and the user's variable for numpy's threads.
PROGRAM = """
import os, sys
from humanoid_control_cli.main import main
sys.argv = ["hc", "version"]
try:
    main()
finally:
    import numpy
    print(len(os.listdir("/proc/self/task")), os.environ["OPENBLAS_NUM_THREADS"])
"""


@pytest.mark.parametrize(
    ("given", "expected"), [({}, "1 1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2 2")]
)
def test_numpy_has_the_threads_that_the_user_wants_or_one(
    given: dict[str, str], expected: str
) -> None:
    others = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**others, **given},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.splitlines()[-1:] == [expected], run.stdout + run.stderr
