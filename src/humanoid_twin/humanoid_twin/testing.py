"""A virtual ring for tests and benchmarks: veth pair, ring process and control channel in one."""

import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final, TypedDict, Unpack

from humanoid_twin.ethercat.control import RingControl
from humanoid_twin.ethercat.errors import RingError
from humanoid_twin.ethercat.veth import veth_pair

_PATIENCE: Final = 30.0  # [s] until the ring answers
_numbers = count()


@dataclass(frozen=True, slots=True)
class Ring:
    """A ring that answers."""

    interface: str  # the master's end of the veth pair
    control: RingControl
    process: subprocess.Popen[str]


class RingOptions(TypedDict, total=False):
    """What a ring can be besides its number of slaves; all with the ring's own defaults."""

    mailbox_delay_ms: float  # from an SDO request to its answer
    clock: str  # "wall", or "stepped": time advances by 10 us a frame and by control.advance only
    capture: Path | None  # pcap file that gets every frame, request and answer
    seed: int  # of random frame losses
    joints: str  # "arms" of Prime, or "bench": flywheels without gravity and friction
    realtime: bool  # SCHED_FIFO where permitted, which is the default


@contextmanager
def ring(slaves: int = 10, **options: Unpack[RingOptions]) -> Iterator[Ring]:
    """A ring of `slaves` drives on a veth pair of its own; gone at the end, whatever happens.

    Raises VethError where no veth pair can be made (needs CAP_NET_ADMIN), RingError if the ring
    does not start.
    """
    stem = f"hc{os.getpid() % 10**7}n{next(_numbers) % 1000}"
    master, far_end = f"{stem}m", f"{stem}r"
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="hc_ring_")))
        cleanup.enter_context(veth_pair(master, far_end))
        command = [far_end, "--slaves", str(slaves), "--control", str(folder / "control")]
        # A busy machine must not look like a lossy cable: the ring answers before all else.
        process = _started(command + _flags({"realtime": True, **options}))
        cleanup.callback(_stop, process)
        _wait_for(process)
        control = cleanup.enter_context(RingControl(folder / "control"))
        yield Ring(master, control, process)


def _flags(options: RingOptions) -> list[str]:
    flags = []
    for name, value in options.items():
        if value is not None and value is not False:
            flags += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return flags


def _started(options: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "humanoid_twin.ethercat.main", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _wait_for(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None  # a pipe
    readable, _, _ = select.select([process.stdout], [], [], _PATIENCE)
    said = process.stdout.readline() if readable else ""
    if not said.startswith("ring: "):
        raise RingError(f"the ring did not start: it said {said!r}, and stderr has the reason")


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()
