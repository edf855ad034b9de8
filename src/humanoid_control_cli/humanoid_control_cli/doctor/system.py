"""Check the prerequisites of the loop's timing: kernel, scheduling, memory, timers, clock."""

import os
import platform
import resource
import threading
import time
from pathlib import Path
from typing import Final

from humanoid_bringup.preflight.findings import Finding, missing, ok, warning
from humanoid_control_common.machine.realtime import LOOP_PRIORITY
from humanoid_control_common.machine.rights import GRANT, Capability

SYS: Final = Path("/sys")
PROC: Final = Path("/proc")
LIMITS: Final = "/etc/security/limits.d/99-humanoid-control.conf"
TICK: Final = 1e-3  # [s]; a clock with high-resolution timers is a million times finer


def system(held: frozenset[Capability], sys: Path = SYS, proc: Path = PROC) -> list[Finding]:
    """Run all checks of this module; `held` are this process's capabilities."""
    return [
        kernel(platform.release(), platform.version(), sys),
        scheduling(fifo_is_permitted()),
        locked_memory(held, resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]),
        timers(proc),
        governor(sys),
    ]


def kernel(release: str, version: str, sys: Path = SYS) -> Finding:
    """Check that it is Linux, and whether a real-time one."""
    if not release:
        return missing("kernel", "not Linux", "the drives' buses are Linux's: use Linux")
    flag = sys / "kernel/realtime"
    if flag.exists() and flag.read_text(encoding="ascii").strip() == "1":
        return ok("kernel", f"{release}, PREEMPT_RT")
    words = [word for word in version.split() if word.startswith("PREEMPT")]
    return warning(
        "kernel",
        f"{release}, {words[0] if words else 'without preemption'}: no real-time kernel",
        "fine for simulation and for 50 Hz; for more, install a PREEMPT_RT kernel (Debian: "
        "`sudo apt install linux-image-rt-amd64`, Ubuntu: `sudo pro enable realtime-kernel`)",
    )


def fifo_is_permitted() -> bool:
    """Return True if a thread, which then ends, gets the priority of the loop's thread."""
    granted = []

    def attempt() -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(LOOP_PRIORITY))
        except PermissionError:
            return
        granted.append(True)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return bool(granted)


def scheduling(permitted: bool) -> Finding:
    """Check the right to a real-time priority for the loop."""
    if permitted:
        return ok("real-time scheduling", f"SCHED_FIFO {LOOP_PRIORITY} is granted")
    return warning(
        "real-time scheduling",
        "not permitted: other programs delay the loop",
        f'`echo "$USER - rtprio {LOOP_PRIORITY + 10}" | sudo tee -a {LIMITS}` and log in again, '
        f"or `{GRANT}`",
    )


def locked_memory(held: frozenset[Capability], limit: int) -> Finding:
    """Check the room for memory that is never swapped; `limit` [bytes] needs no capability."""
    if Capability.IPC_LOCK in held or limit == resource.RLIM_INFINITY:
        return ok("locked memory", "without limit")
    return warning(
        "locked memory",
        f"limited to {limit // 1024} KiB",
        f'`echo "$USER - memlock unlimited" | sudo tee -a {LIMITS}` and log in again',
    )


def timers(proc: Path = PROC, resolution: float | None = None) -> Finding:
    """Check resolution and slack of sleeping, both [s]."""
    resolution = time.clock_getres(time.CLOCK_MONOTONIC) if resolution is None else resolution
    if resolution >= TICK:
        return missing(
            "timers",
            f"resolution {resolution * 1e3:g} ms",
            "boot without highres=off, or use a kernel with CONFIG_HIGH_RES_TIMERS",
        )
    slack = int((proc / "self/timerslack_ns").read_text(encoding="ascii"))
    return ok(
        "timers",
        f"resolution {resolution * 1e9:g} ns, slack {slack / 1e3:g} us (the loop requests 1 ns)",
    )


def governor(sys: Path = SYS) -> Finding:
    """Check that the processor does not slow down between two ticks."""
    files = sorted(sys.glob("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
    found = sorted({file.read_text(encoding="ascii").strip() for file in files})
    if not found:
        return ok("CPU governor", "none: the clock is not Linux's to change")
    if found == ["performance"]:
        return ok("CPU governor", "performance")
    return warning(
        "CPU governor",
        f"{', '.join(found)}: the clock falls while the loop sleeps",
        "`sudo cpupower frequency-set --governor performance`",
    )
