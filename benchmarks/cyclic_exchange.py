"""Process data of ten drives, exchanged by the control loop, alone and with SDO batches beside it.

The loop is whole (read, controller, limits, write, idle time), without ROS. Lateness is how much
later than a period after the one before a tick began. CPU is that of this process, in percent of
one core; the ring runs in another.
"""

from __future__ import annotations

import time

import numpy as np
from erob_rig import RunningRing, running_ring
from figures import Figure, arguments, figure, report, single
from impedance_batches import DAMPING, STANDBY, switching

from humanoid_twin.testing import ring

RATES = (50.0, 200.0, 500.0, 1000.0)  # [Hz]
SLAVES = 10
SECONDS = 20.0
DELAY_MS = 2.0


def observe(rig: RunningRing, seconds: float) -> tuple[list[float], float]:
    """Times between ticks [s], and CPU [% of a core], during `seconds`."""
    first = len(rig.starts)
    used, begun = time.process_time(), time.perf_counter()
    time.sleep(seconds)
    cpu = 100.0 * (time.process_time() - used) / (time.perf_counter() - begun)
    assert not rig.problem(), rig.problem()
    return np.diff(rig.starts[first:]).tolist(), cpu


def observe_with_batches(rig: RunningRing, seconds: float) -> list[float]:
    """Times between ticks [s] while one batch after the other is written."""
    first = len(rig.starts)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for gains in (STANDBY, DAMPING):
            switching(rig, gains, SLAVES)
    assert not rig.problem(), rig.problem()
    return np.diff(rig.starts[first:]).tolist()


def measure(rate: float, seconds: float) -> dict[str, Figure]:
    """The figures of one rate."""
    where = f"{rate:g} Hz"
    with (
        ring(SLAVES, mailbox_delay_ms=DELAY_MS, realtime=True) as virtual,
        running_ring(virtual.interface, SLAVES, rate) as rig,
    ):
        periods, cpu = observe(rig, seconds)
        lost = rig.system.lost_exchanges
        beside = observe_with_batches(rig, seconds)
    period = 1.0 / rate
    late = np.abs(np.asarray(periods) - period)
    late_beside = np.abs(np.asarray(beside) - period)
    return {
        f"{where}: period off by": figure(late, "us", 1e6, tail=True),
        f"{where}: period off by, SDO batches beside": figure(late_beside, "us", 1e6, tail=True),
        f"{where}: exchanges": single(len(periods), ""),
        f"{where}: lost exchanges": single(lost, ""),
        f"{where}: CPU": single(cpu, "%"),
    }


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    figures: dict[str, Figure] = {}
    for rate in (200.0,) if options.quick else RATES:
        figures |= measure(rate, 0.5 if options.quick else SECONDS)
    report("Cyclic exchange, 10 drives (goal at 1 kHz: 500 us)", figures, options.json)


if __name__ == "__main__":
    main()
