"""Time-outs and intervals of the CAN engine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Time-outs and intervals [s]. Those of the documents are marked; the others are ours."""

    enable_timeout: float = 3.0  # a motor may take a second to enable
    enable_retry: float = 1.4  # a repeated order may restart a motor's enabling
    prepare_timeout: float = 1.0
    disable_timeout: float = 1.0
    retry: float = 0.1  # for orders that a motor obeys at once
    silence: float = 0.2  # RX_TIMEOUT (documents)
    # Of a motor that is disabled for good and obeys by silence: longer than a hold-up of adapter or
    # cable that is no RX_TIMEOUT, which would look the same.
    silence_at_exit: float = 0.22
    gains_refresh: float = 0.5  # gains are sent again at 2 Hz (documents)
    gains_insistence: float = 0.2  # changed gains are sent in every tick: frames may get lost
    recent: float = 1.0  # for how long an event counts as present
    overrun_periods: float = 4.0  # of the control loop; a command that waits longer is an overrun
    shortest_overrun: float = 0.2  # as RX_TIMEOUT: a hold-up alone must not look like an overrun
    keep_alive: float = 0.05  # between two commands while the loop sends none
    poll: float = 0.05  # longest wait of the receiving thread
    resend: float = 0.002  # until a frame that a full queue refused is tried again
