"""Time limits [s] of an ordered end, for all programs that may kill the robot's processes.

A killed control process leaves drives armed and motors to their watchdogs. So it is killed only
after all of its steps have had their full time, one after the other:

    asked in order    WAY_DOWN -> asked at once
    asked at once     HANGING_LOOP -> RING_EXIT -> CAN_EXIT (components end one by one)
                      -> PROCESS_END

Usually the end takes one to four seconds. The limits of the steps are in their modules; a test adds
them up (`test_ending_times.py`).
"""

from typing import Final

WAY_DOWN: Final = 10.0  # damped until slow (6), gains 0 (1.5); also with a broken ROS side
HANGING_LOOP: Final = 2.0  # waiting for the last tick
RING_EXIT: Final = 12.5  # no drive answers: disabled, 0x2383 in OP and in PREOP, INIT
CAN_EXIT: Final = 12.5  # a guard that starts or acts; motors that do not confirm
PROCESS_END: Final = 3.0  # `hc down` reads its answer, nodes and threads end

ANSWER: Final = WAY_DOWN + HANGING_LOOP + RING_EXIT + CAN_EXIT  # when `hc down` is answered
END_AT_ONCE: Final = HANGING_LOOP + RING_EXIT + CAN_EXIT + PROCESS_END  # from SIGTERM on
END_IN_ORDER: Final = WAY_DOWN + END_AT_ONCE  # from SIGINT on

# From the first Ctrl-C until another one counts: several programs may pass one on, and keys bounce.
AGAIN: Final = 1.0

# For supervisors. SIGTERM removes torque at once, so it follows the time of the way down. An exit
# that has begun is not disturbed.
SIGINT_TO_SIGTERM: Final = WAY_DOWN + 2.0
SIGTERM_TO_SIGKILL: Final = END_AT_ONCE
# Processes that the control process needs are ended after it, even if it was killed.
LAST_TO_SIGTERM: Final = SIGINT_TO_SIGTERM + SIGTERM_TO_SIGKILL + 1.0
EVERYTHING: Final = LAST_TO_SIGTERM + 8.0  # the black box writes its files
