"""What the engine of a CAN bus goes by: times in seconds, a clock, and what carries steps out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from humanoid_devices_can.workers import THREADS, Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Time-outs and intervals. Those of the documents are named; the others are ours."""

    enable_timeout: float = 3.0  # a motor may take a second to enable
    enable_retry: float = 1.4  # a repeated order may begin a motor's enabling anew
    prepare_timeout: float = 1.0
    disable_timeout: float = 1.0
    retry: float = 0.1  # for orders that a motor obeys at once
    silence: float = 0.2  # RX_TIMEOUT (documents)
    gains_refresh: float = 0.5  # gains are sent again at 2 Hz (documents)
    recent: float = 1.0  # for how long an event counts as observed now
    overrun_periods: float = 4.0  # of the control loop; a command that waits longer is an overrun
    shortest_overrun: float = 0.2  # as RX_TIMEOUT: a held-up machine alone must not look like one
    keep_alive: float = 0.05  # between two commands that the loop doesn't send yet
    poll: float = 0.05  # longest wait of the receiving thread
    resend: float = 0.002  # until a frame that a full queue refused is tried again
    clock: Callable[[], float] = time.perf_counter  # monotonic
    workers: Workers = THREADS
