"""Leads single slaves to an AL state while no process data is exchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from humanoid_devices_erob.al_state import AlState, AlStatus
from humanoid_devices_erob.timebase import Timebase

REQUEST_INTERVAL: Final = 0.1  # [s] until a slave is asked again, in case the request was lost
_NAP: Final = 0.001  # [s] between two looks at the states


class StateMaster(Protocol):
    """Who knows the slaves' AL states and can ask for others; see EthercatMaster."""

    def states(self) -> list[AlStatus]:
        """Of every slave, now."""

    def request_slave_state(self, slave: int, state: AlState, *, acknowledge: bool = False) -> None:
        """Ask one slave, and acknowledge the error it shows."""


def lead_to(
    state: AlState,
    slaves: Sequence[int],
    master: StateMaster,
    timebase: Timebase,
    timeout: float,
    waiting: Callable[[Sequence[AlStatus]], None] = lambda _: None,
) -> list[AlStatus]:
    """The states of all slaves as soon as `slaves` are in `state`, or after `timeout` [s].

    `waiting` is told of the states each time somebody is asked again.
    """
    ask = now = timebase.clock()
    end = now + timeout
    while True:
        states = master.states()
        late = [i for i in slaves if states[i].state is not state or states[i].error]
        now = timebase.clock()
        if not late or now > end:
            return states
        if now >= ask:
            ask = now + REQUEST_INTERVAL
            waiting(states)
            for slave in late:
                master.request_slave_state(slave, state, acknowledge=states[slave].error)
        timebase.sleep(_NAP)
