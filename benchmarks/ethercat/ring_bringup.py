"""Measure the bring-up to operation enabled: this stack, and a master with the documented habits.

This stack runs in real time, the other master on the ring's stepped clock, where waiting takes no
wall time. The drives are the same.

Faults are counted, too. In a staged bring-up these are joined slaves that left operation with error
0xA000 and were recovered; in this stack, drives with an error after a completed bring-up.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.ethercat.erob_rig import hardware_info
from benchmarks.ethercat.igh_master import StagedMaster
from benchmarks.support.figures import Figure, arguments, figure, note, ratio, report, single
from humanoid_control_common.errors import HardwareError
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_twin.testing import ring

REPETITIONS = 20
RATE = 50.0  # [Hz] of SYNC0
SPOILT = 10  # bring-ups that may fail until the benchmark gives up
DELAY_MS = 2.0  # a drive's time to answer a mailbox request


def ours(slaves: int, delay_ms: float, repetitions: int) -> tuple[Figure, Figure]:
    """Return the times of `on_activate` [s] without faults afterwards, and the faulted drives."""
    samples: list[float] = []
    faults: list[float] = []
    spoilt = 0
    with TemporaryDirectory(prefix="hc_bench_") as folder:
        while len(samples) < repetitions:
            try:
                seconds, faulted = _bring_up(slaves, delay_ms, Path(folder))
            except HardwareError:
                spoilt += 1
                if spoilt > SPOILT:
                    raise
                continue
            faults.append(faulted)
            if not faulted:
                samples.append(seconds)
            elif len(faults) - len(samples) > SPOILT:
                raise RuntimeError(f"drives faulted in more than {SPOILT} bring-ups")
    if spoilt:
        note(f"{slaves} slaves, {delay_ms:g} ms: {spoilt} bring-ups failed, the host held them up")
    return figure(samples, "s"), figure(faults, "drives")


def _bring_up(slaves: int, delay_ms: float, folder: Path) -> tuple[float, int]:
    with ring(slaves, mailbox_delay_ms=delay_ms) as virtual:
        system = ErobSystem()
        system.on_configure(hardware_info(virtual.interface, slaves, RATE, folder))
        begun = time.perf_counter()
        system.on_activate(JointState(slaves))
        seconds = time.perf_counter() - begun
        faults = sum(bool(drive["error"]) for drive in virtual.control.drives())
        system.on_deactivate()
        return seconds, faults


def staged(frequency: float, slaves: int) -> tuple[float, int]:
    """Return the ring's time of a staged bring-up [s], and its recoveries from 0xA000."""
    with ring(slaves, clock="stepped") as virtual:
        master = StagedMaster(virtual.interface, virtual.control, frequency)
        try:
            return master.bring_up(), master.recoveries
        finally:
            master.close()


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    repetitions = 1 if options.quick else REPETITIONS
    figures: dict[str, Figure] = {}
    figures["ours, 10 slaves, 2 ms"], faults = ours(10, DELAY_MS, repetitions)
    figures["ours, 10 slaves, 2 ms: drives with a fault (goal: 0)"] = faults
    counts = (1, 10) if options.quick else (1, 10, 40)
    for slaves in counts:
        name = f"ours, {slaves} slaves, 0 ms"
        figures[name], _ = ours(slaves, 0.0, repetitions)
    if options.quick:
        slaves, scale = 1, 10.0
        note("quick: the staged master brings up one slave, times ten")
    else:
        slaves, scale = 10, 1.0
    for frequency, documented, falls in ((50.0, 70.0, "about 7"), (1000.0, 13.6, "0")):
        seconds, recoveries = staged(frequency, slaves)
        name = f"staged at {frequency:g} Hz (documented: {documented:g} s)"
        figures[name] = single(seconds * scale, "s")
        if not options.quick:  # one slave alone cannot delay another one
            name = f"staged at {frequency:g} Hz: recoveries from 0xA000 (documented: {falls})"
            figures[name] = single(recoveries, "cycles")
    medians = [figures[f"ours, {slaves} slaves, 0 ms"].median for slaves in counts]
    spread = max(abs(m / float(np.median(medians)) - 1.0) for m in medians)
    figures["1, 10, 40 slaves at 0 ms: farthest from the median one"] = single(100.0 * spread, "%")
    fastest_documented = figures["staged at 1000 Hz (documented: 13.6 s)"]
    figures["staged at 1000 Hz / ours"] = ratio(
        fastest_documented, figures["ours, 10 slaves, 2 ms"]
    )
    report("Bring-up to operation enabled (goal: 2 s for ten slaves)", figures, options.json)


if __name__ == "__main__":
    main()
