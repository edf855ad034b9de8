"""States of the EtherCAT application layer (AL): texts, and transitions of single slaves."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Protocol

import pysoem

from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_devices_erob.errors import EEPROM_REMEDY, joined_by_text
from humanoid_devices_erob.reason_codes import (
    AL_CODES,
    SLAVE_EEPROM,
    SLAVE_LEFT_OP,
    SLAVE_SILENT,
)

REQUEST_INTERVAL: Final = 0.1  # [s] until a request is repeated, in case it was lost
COMMON_INTERVAL: Final = 0.2  # [s] the same, of a request to all slaves
_NAP: Final = 0.001  # [s] between two reads of the states


class AlState(IntEnum):
    """States of the EtherCAT application layer (ETG.1000.6)."""

    NONE = 0  # the slave doesn't answer
    INIT = 1
    PREOP = 2
    BOOT = 3
    SAFEOP = 4
    OP = 8


@dataclass(frozen=True, slots=True)
class AlStatus:
    """The AL state that a slave reports."""

    state: AlState
    error: bool = False  # the slave refused or left a state; must be acknowledged
    code: int = 0  # AL status code (ETG.1000.6)
    reason: str = ""  # its meaning

    def __str__(self) -> str:
        if self.state is AlState.NONE:
            return "does not answer"
        if not self.error:
            return self.state.name
        text = f"{self.state.name} with error, AL status 0x{self.code:04X} ({self.reason})"
        return f"{text}: {EEPROM_REMEDY}" if AL_CODES.get(self.code) is SLAVE_EEPROM else text


def differing(statuses: Sequence[AlStatus], state: AlState, joint_at: Sequence[str]) -> str:
    """Return which slaves are not in `state`, in words; empty if all are."""
    return joined_by_text(
        (f"slave {i} ({joint_at[i]})", str(status))
        for i, status in enumerate(statuses)
        if status.state is not state or status.error
    )


def codes_of_slave(status: AlStatus) -> Iterator[ReasonCode]:
    """Yield the reason codes of a slave that is not in OP."""
    if status.state is AlState.NONE:
        yield SLAVE_SILENT
        return
    if status.error and status.code in AL_CODES:
        yield AL_CODES[status.code]
    yield SLAVE_LEFT_OP


def describe_al_code(code: int) -> str:
    """Return an AL status code (16 bits) with its meaning, as in messages."""
    return f"AL status 0x{code:04X} ({pysoem.al_status_code_to_string(code)})"


def al_status(state: int, code: int) -> AlStatus:
    """Return the status for pysoem's `state` and `al_status` of a slave."""
    try:
        known = AlState(state & 0xF)
    except ValueError:  # several bits: in transition
        return AlStatus(AlState.NONE)
    if not state & pysoem.STATE_ERROR:
        return AlStatus(known)
    return AlStatus(known, True, code, pysoem.al_status_code_to_string(code))


class RequestsStates(Protocol):
    """Requests AL states; see EthercatMaster."""

    def request_state(self, state: AlState) -> None:
        """Request a state of all slaves."""


class RepeatedRequest:
    """A request for a state of all slaves, sent again at intervals: a frame may be lost."""

    def __init__(self, state: AlState, master: RequestsStates, machine: Machine) -> None:
        self._state, self._master, self._machine = state, master, machine
        self._due = machine.clock()

    def send_if_due(self) -> None:
        """Send it the first time, and whenever COMMON_INTERVAL has passed."""
        if self._machine.clock() >= self._due:
            self._due += COMMON_INTERVAL
            self._master.request_state(self._state)


class StateMaster(Protocol):
    """Reads and requests AL states; see EthercatMaster."""

    def states(self) -> list[AlStatus]:
        """Return the present state of every slave."""

    def request_slave_state(self, slave: int, state: AlState, *, acknowledge: bool = False) -> None:
        """Request a state of one slave, acknowledging the error it shows."""


def lead_to(
    state: AlState,
    slaves: Sequence[int],
    master: StateMaster,
    machine: Machine,
    timeout: float,
    waiting: Callable[[Sequence[AlStatus]], None] = lambda _: None,
) -> list[AlStatus]:
    """Request `state` of `slaves` until they are there, or for `timeout` [s].

    For slaves that exchange no process data. Returns the states of all slaves; `waiting` gets them
    before each repeated request.
    """
    due = now = machine.clock()
    end = now + timeout
    while True:
        states = master.states()
        late = [i for i in slaves if states[i].state is not state or states[i].error]
        now = machine.clock()
        if not late or now > end:
            return states
        if now >= due:
            due = now + REQUEST_INTERVAL
            waiting(states)
            for slave in late:
                master.request_slave_state(slave, state, acknowledge=states[slave].error)
        machine.sleep(_NAP)
