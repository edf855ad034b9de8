"""The AL state machine, over every state, request and obstacle."""

import itertools
from dataclasses import fields, replace

import pytest

from humanoid_twin.ethercat.esc.al import Al, AlStatusCode, Readiness, requested
from humanoid_twin.ethercat.firmware import AlState

READY = Readiness()
STATES = [AlState.INIT, AlState.PREOP, AlState.SAFEOP, AlState.OP]
UPWARD = {(1, 2), (2, 4), (4, 8)}


@pytest.mark.parametrize(("state", "wanted"), itertools.product(STATES, STATES))
def test_a_ready_slave_goes_one_up_or_anywhere_down(state: AlState, wanted: AlState) -> None:
    after = requested(Al(state), wanted, READY)
    if wanted <= state or (state, wanted) in UPWARD:
        assert after == Al(wanted)
    else:
        assert after == Al(state, True, AlStatusCode.INVALID_CHANGE)


@pytest.mark.parametrize(("state", "wanted"), itertools.product(STATES, STATES))
def test_with_an_error_only_going_down_or_acknowledging_helps(
    state: AlState, wanted: AlState
) -> None:
    failed = Al(state, True, AlStatusCode.WATCHDOG)
    assert requested(failed, wanted | 0x10, READY) == requested(Al(state), wanted, READY)
    after = requested(failed, wanted, READY)
    assert after == (Al(wanted) if wanted < state else failed)


@pytest.mark.parametrize(
    ("state", "wanted", "missing", "code"),
    [
        (AlState.INIT, AlState.PREOP, "mailbox", 0x0016),
        (AlState.PREOP, AlState.SAFEOP, "outputs", 0x001D),
        (AlState.PREOP, AlState.SAFEOP, "inputs", 0x001E),
        (AlState.PREOP, AlState.SAFEOP, "clock", 0x0030),
        (AlState.PREOP, AlState.SAFEOP, "cycle", 0x0035),
        (AlState.SAFEOP, AlState.OP, "clock", 0x0030),
        (AlState.SAFEOP, AlState.OP, "sync", 0x002D),
        (AlState.SAFEOP, AlState.OP, "fed", 0x001B),
    ],
)
def test_an_obstacle_keeps_the_state_and_sets_its_error_code(
    state: AlState, wanted: AlState, missing: str, code: int
) -> None:
    after = requested(Al(state), wanted, replace(READY, **{missing: False}))
    assert after == Al(state, True, code)
    assert after.status == state | 0x10


def test_every_failed_readiness_check_prevents_a_transition() -> None:
    for check in fields(Readiness):
        blocked = replace(READY, **{check.name: False})
        assert any(requested(Al(low), high, blocked).error for low, high in UPWARD_STATES)


UPWARD_STATES = [(AlState(low), AlState(high)) for low, high in UPWARD]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("wanted", [0, 5, 6, 7, 9, 15])
def test_a_request_for_no_state_is_refused(state: AlState, wanted: int) -> None:
    assert requested(Al(state), wanted, READY).code == AlStatusCode.UNKNOWN_STATE or wanted < state
    assert requested(Al(state), wanted, READY).state == state


@pytest.mark.parametrize("state", STATES)
def test_slave_refuses_the_state_bootstrap(state: AlState) -> None:
    assert requested(Al(state), AlState.BOOT, READY) == Al(state, True, AlStatusCode.NO_BOOTSTRAP)
