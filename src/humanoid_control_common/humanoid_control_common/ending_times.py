"""How long a robot may take to end in order, for all who would kill its processes [s].

A control process that is killed leaves drives armed and motors to their watchdogs. So nobody kills
it before everything in it had its full time, one after the other, each step up to its own limit:

    asked in order    WAY_DOWN -> asked at once
    asked at once     HANGING_LOOP -> RING_EXIT -> CAN_EXIT (components end one by one)
                      -> LAST_WORDS

Usually it takes a second or four. The limits of the single steps are where the steps are; a test
adds them up (`test_ending_times.py`).
"""

from __future__ import annotations

from typing import Final

WAY_DOWN: Final = 10.0  # damped until slow (6), gains 0 (1.5); with a broken ROS side, too
HANGING_LOOP: Final = 2.0  # the last tick is waited for
RING_EXIT: Final = 12.5  # no drive answers: disabled, 0x2383 in OP and in PREOP, INIT
CAN_EXIT: Final = 12.0  # a guard just starting, or in action; motors that don't confirm
LAST_WORDS: Final = 3.0  # the answer to `hc down` is read, nodes and threads end

ANSWER: Final = WAY_DOWN + HANGING_LOOP + RING_EXIT + CAN_EXIT  # when `hc down` is answered
END_AT_ONCE: Final = HANGING_LOOP + RING_EXIT + CAN_EXIT + LAST_WORDS  # from SIGTERM on
END_IN_ORDER: Final = WAY_DOWN + END_AT_ONCE  # from SIGINT on

# What supervisors go by. SIGTERM takes the torque at once: not while the way down has its time. It
# disturbs no exit that has begun.
SIGINT_TO_SIGTERM: Final = WAY_DOWN + 2.0
SIGTERM_TO_SIGKILL: Final = END_AT_ONCE
# Who is needed until the control process has ended is asked only then, even if that was killed.
LAST_TO_SIGTERM: Final = SIGINT_TO_SIGTERM + SIGTERM_TO_SIGKILL + 1.0
EVERYTHING: Final = LAST_TO_SIGTERM + 8.0  # the black box writes its files
