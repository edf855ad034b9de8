"""Measure a change of impedance of ten drives: DAMPING to STANDBY and back, beside process data.

The time lasts from the hand-over of the batch to the last register read back, at 50 Hz and at
1 kHz. The drives take 2 ms to answer a mailbox request. The same run measures, on the same drives:
one slave after the other, one thread per slave under a lock, and a master with the documented
habits, which moves each transfer by one step per cycle (on the ring's stepped clock; it does not
read back).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from benchmarks.ethercat.erob_rig import RunningRing, in_sessions
from benchmarks.ethercat.igh_master import StagedMaster
from benchmarks.ethercat.impedance_batches import DAMPING, STANDBY, objects, switching
from benchmarks.ethercat.locked_sdo import LockedMaster
from benchmarks.support.figures import Figure, arguments, figure, note, ratio, report, single
from humanoid_devices_erob.drive.gains import JointRegisters
from humanoid_twin.ethercat.control import RingControl
from humanoid_twin.testing import ring

SLAVES = 10
DELAY_MS = 2.0
REPETITIONS = 200
SLOW_REPETITIONS = 20
RATES = (50.0, 1000.0)  # [Hz]
STAGED_FREQUENCY = 1000.0  # [Hz] of the staged bring-up; SDO are measured at 50 Hz


def spread(control: RingControl) -> float:
    """Return the times between the slaves' last mailbox requests of a batch [s]."""
    last = {slave: moment for moment, slave, kind, _ in control.log() if kind == "request"}
    assert len(last) == SLAVES, last
    return float(max(last.values()) - min(last.values()))


def ours(rate: float, repetitions: int, slow: int) -> dict[str, Figure]:
    """Measure this stack: changed objects only, all objects, one slave after the other."""
    where = f"{rate:g} Hz"
    changed: list[float] = []
    apart: list[float] = []
    everything: list[float] = []
    sequential: list[float] = []

    def work(rig: RunningRing, control: RingControl) -> bool:
        switching(rig, DAMPING, SLAVES, only_changed=False)
        for gains in _alternating(changed, repetitions):
            control.log()
            seconds = switching(rig, gains, SLAVES)
            apart.append(spread(control))
            changed.append(seconds)
        # All later batches write all objects, for any gains in force before.
        for gains in _alternating(everything, repetitions):
            everything.append(switching(rig, gains, SLAVES, only_changed=False))
        for gains in _alternating(sequential, slow):
            sequential.append(switching(rig, gains, SLAVES, only_changed=False, parallel=False))
        return True

    interruptions = in_sessions(SLAVES, DELAY_MS, rate, work)
    note(f"{where}: the host interrupted {interruptions} sessions")
    return {
        f"{where}: only what changes": figure(changed, "ms", 1e3),
        f"{where}: slaves apart": figure(apart, "ms", 1e3),
        f"{where}: all 30 objects": figure(everything, "ms", 1e3),
        f"{where}: all 30, one slave after the other": figure(sequential, "ms", 1e3),
    }


def _alternating(samples: list[float], wanted: int) -> Iterator[JointRegisters]:
    """Switch between STANDBY and DAMPING, in new sessions, until there are enough samples."""
    for gains in cycle((STANDBY, DAMPING)):
        if len(samples) >= wanted:
            return
        yield gains


def locked(rate: float, repetitions: int) -> Figure:
    """Measure all 30 objects, by ten threads under a lock."""
    with ring(SLAVES, mailbox_delay_ms=DELAY_MS, realtime=True) as virtual:
        master = LockedMaster(virtual.interface, rate)
        try:
            samples = []
            for i in range(repetitions):
                new, old = ((STANDBY, DAMPING), (DAMPING, STANDBY))[i % 2]
                samples.append(master.write(objects(new, old, SLAVES, only_changed=False)))
            return figure(samples, "ms", 1e3)
        finally:
            master.close()


def documented(slaves: int) -> tuple[Figure, Figure]:
    """Measure the documented master: in ring order, and with one worker per slave."""
    new = objects(STANDBY, DAMPING, 1, only_changed=False)
    batch = [(it.index, it.subindex, int.from_bytes(it.data, "little", signed=True)) for it in new]
    with ring(slaves, mailbox_delay_ms=DELAY_MS, clock="stepped") as virtual:
        master = StagedMaster(virtual.interface, virtual.control, STAGED_FREQUENCY)
        try:
            master.bring_up()
            master.set_frequency(50.0)
            in_order = master.write([batch] * slaves, parallel=False)
            side_by_side = master.write([batch] * slaves, parallel=True)
        finally:
            master.close()
    return single(in_order * 1e3, "ms"), single(side_by_side * 1e3, "ms")


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    repetitions, slow = (4, 2) if options.quick else (REPETITIONS, SLOW_REPETITIONS)
    figures: dict[str, Figure] = {}
    for rate in RATES[:1] if options.quick else RATES:
        figures |= ours(rate, repetitions, slow)
        name = f"{rate:g} Hz: all 30, a thread per slave, lock"
        figures[name] = locked(rate, slow)
    in_order, side_by_side = documented(2 if options.quick else SLAVES)
    if not options.quick:
        figures["documented master, in ring order (3.6 s)"] = in_order
    figures["documented master, a worker per slave (0.46 s)"] = side_by_side
    figures["the latter / ours at 50 Hz, all 30"] = ratio(
        side_by_side, figures["50 Hz: all 30 objects"]
    )
    report(
        "Change of impedance, 10 drives (goals: changed 10 and 15 ms, all 15 and 22 ms)",
        figures,
        options.json,
    )


if __name__ == "__main__":
    main()
