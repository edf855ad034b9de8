"""Measure the process data of ten drives, alone and with SDO batches beside them.

The loop is complete (read, controller, limits, write, idle time), without ROS. Lateness is the
start of a tick minus the start of the tick before minus a period. CPU is that of this process, in
percent of one core; the ring runs in another process.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from benchmarks.ethercat.erob_rig import InterruptedSessionError, RunningRing, in_sessions
from benchmarks.ethercat.impedance_batches import DAMPING, STANDBY, switching
from benchmarks.support.figures import Figure, arguments, figure, note, report, single
from humanoid_twin.ethercat.control import RingControl

RATES = (50.0, 200.0, 500.0, 1000.0)  # [Hz]
SLAVES = 10
SECONDS = 20.0
DELAY_MS = 2.0
PIECE = 0.5  # [s] that are watched at a time


@dataclass
class Observed:
    """The measurements at one rate, of all sessions."""

    periods: list[float] = field(default_factory=list)  # [s]
    periods_beside: list[float] = field(default_factory=list)  # [s] while batches are written
    lost: int = 0  # exchanges
    processor: float = 0.0  # [s]
    seconds: float = 0.0
    seconds_beside: float = 0.0


def lost_exchanges(rig: RunningRing) -> int:
    """Return how many exchanges did not reach every slave."""
    system = rig.system
    return system.bus_counts()[system.counter_names.index("lost exchanges")]


def observe(rig: RunningRing, observed: Observed, seconds: float) -> None:
    """Measure the loop alone, for a total of `seconds`."""
    while observed.seconds < seconds:
        first, lost = len(rig.starts), lost_exchanges(rig)
        used, begun = time.process_time(), time.perf_counter()
        time.sleep(PIECE)
        observed.processor += time.process_time() - used
        observed.seconds += time.perf_counter() - begun
        observed.periods += np.diff(rig.starts[first:]).tolist()
        observed.lost += lost_exchanges(rig) - lost
        if rig.problem():
            raise InterruptedSessionError(rig.problem())


def observe_with_batches(rig: RunningRing, observed: Observed, seconds: float) -> None:
    """Measure the loop while one batch after the other is written."""
    while observed.seconds_beside < seconds:
        first, begun = len(rig.starts), time.perf_counter()
        for gains in (STANDBY, DAMPING):
            switching(rig, gains, SLAVES)
        observed.seconds_beside += time.perf_counter() - begun
        observed.periods_beside += np.diff(rig.starts[first:]).tolist()


def measure(rate: float, seconds: float) -> dict[str, Figure]:
    """Return the figures of one rate."""
    where = f"{rate:g} Hz"
    observed = Observed()

    def work(rig: RunningRing, _: RingControl) -> bool:
        observe(rig, observed, seconds)
        observe_with_batches(rig, observed, seconds)
        return True

    interruptions = in_sessions(SLAVES, DELAY_MS, rate, work)
    count = len(observed.periods)
    note(
        f"{where}: {observed.lost} of {count} exchanges lost; the host interrupted "
        f"{interruptions} sessions"
    )
    late = np.abs(np.asarray(observed.periods) - 1.0 / rate)
    late_beside = np.abs(np.asarray(observed.periods_beside) - 1.0 / rate)
    return {
        f"{where}: period off by": figure(late, "us", 1e6, tail=True),
        f"{where}: period off by, SDO batches beside": figure(late_beside, "us", 1e6, tail=True),
        f"{where}: exchanges that reached every drive": single(
            100.0 * (1.0 - observed.lost / count), "%"
        ),
        f"{where}: CPU": single(100.0 * observed.processor / observed.seconds, "%"),
    }


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    figures: dict[str, Figure] = {}
    for rate in (200.0,) if options.quick else RATES:
        figures |= measure(rate, 0.5 if options.quick else SECONDS)
    report("Cyclic exchange, 10 drives (goal at 1 kHz: p99 200 us)", figures, options.json)


if __name__ == "__main__":
    main()
