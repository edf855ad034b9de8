"""Try a foreign model in a process of its own, before another process takes it.

A model is a program: its constants may take hours or all memory, its inference may have no end, and
no signal of Python interrupts ONNX Runtime meanwhile. The trial has limits, and can be interrupted.
"""

import hashlib
import json
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

from humanoid_control_common.machine.linux import LINUX
from humanoid_policy.errors import PolicyRefusedError
from humanoid_policy.metadata import PolicyMetadata
from humanoid_policy.model import PolicyModel, load_runtime, read_policy, session_of
from humanoid_policy.timing import Times, measured

LONGEST: Final = 3  # [s] of a processor; `timing` takes one of them
TIMEOUT: Final = 20.0  # [s]: a busy machine takes this long for LONGEST
MEMORY: Final = 512 << 20  # [bytes]
# [s] of a processor. Prime's policy takes 0.005; 20 000 nodes take 1. ONNX Runtime holds the
# interpreter for a tenth of this time when it destroys the model: a control loop would stand still.
LONGEST_LOADING: Final = 0.2
# The first words of the process: a thread of the control process hands its priority down.
_PROGRAM: Final = (
    "import os; os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0)); "
    "from humanoid_policy.trial import main; main()"
)

_passed: Final[dict[bytes, tuple[PolicyMetadata, Times]]] = {}  # by the hash of the content


class Tried(NamedTuple):
    """A model that passed."""

    content: bytes
    where: str  # its path
    metadata: PolicyMetadata
    times: Times


def load_tried(name: str) -> PolicyModel:
    """Try the policy of a foreign file, see `try_policy`; return it. Takes a second or two."""
    tried = try_policy(name)
    return PolicyModel(tried.content, tried.where)


def try_policy(name: str) -> Tried:
    """Load and time the policy of a foreign file in another process, see `model.read_policy`.

    What has passed in this process is not tried again. Raises PolicyRefusedError as PolicyModel
    does, and for a model beyond the limits of this module.
    """
    content, where = read_policy(name)
    key = hashlib.sha256(content).digest()
    if key not in _passed:
        _passed[key] = _tried(content, where)
    return Tried(content, where, *_passed[key])


def _tried(content: bytes, where: str) -> tuple[PolicyMetadata, Times]:
    words = [sys.executable, "-P", "-c", _PROGRAM, where]
    try:
        # In a group of its own: Ctrl-C in a terminal is the parent's, which ends the trial with it,
        # or, as the control process at its start, not yet.
        done = subprocess.run(
            words,
            input=content,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
            process_group=0,
        )
    except subprocess.TimeoutExpired as error:
        raise PolicyRefusedError(f"{where}: its trial takes longer than {TIMEOUT:g} s") from error
    if done.returncode == -signal.SIGXCPU:
        raise PolicyRefusedError(
            f"{where}: loading and inference take more than {LONGEST} s of a processor: the model "
            "is too slow, or has no end"
        )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        last = lines[-1] if lines else f"signal {-done.returncode}"
        raise PolicyRefusedError(f"{where}: its trial failed: {last}")
    verdict = json.loads(done.stdout)
    if "refused" in verdict:
        raise PolicyRefusedError(verdict["refused"])
    return PolicyMetadata.from_strings(verdict["metadata"], where), Times(*verdict["times"])


def main() -> None:
    """Try the model that comes on stdin, in the process of the trial; print the verdict."""
    where, content = sys.argv[1], sys.stdin.buffer.read()
    load_runtime()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + MEMORY)
    _limit(resource.RLIMIT_CPU, int(time.process_time()) + LONGEST)
    try:
        verdict = _verdict(content, where)
    except PolicyRefusedError as error:
        verdict = {"refused": str(error)}
    json.dump(verdict, sys.stdout)


def _limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, hard))


def _verdict(content: bytes, where: str) -> dict[str, Any]:
    begin = time.process_time()
    session_of(content, where)  # loads it and destroys it
    taken = time.process_time() - begin
    if taken > LONGEST_LOADING:
        raise PolicyRefusedError(
            f"{where}: loading takes {taken:.1f} s of a processor, expected {LONGEST_LOADING:g} at "
            "most: export it with fewer nodes and constants"
        )
    model = PolicyModel(content, where)
    return {"metadata": model.metadata.to_strings(), "times": measured(model, LINUX)}
