"""The error names a drive that does not reach PREOP, with a remedy."""

from __future__ import annotations

import logging
import threading
from math import inf

import pytest
from test_support.stepped.stepped_time import SteppedTime

from humanoid_devices_erob.bring_up.bench import PREOP_TIMEOUT
from humanoid_devices_erob.bring_up.bring_up import wait_for_preop
from humanoid_devices_erob.errors import BringUpError, HungError
from humanoid_devices_erob.master.al_state import REQUEST_INTERVAL, AlState, AlStatus


def test_drive_whose_firmware_hangs_is_named_with_advice_after_one_attempt(
    make_bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench = make_bench(3)
    bench.control.freeze_firmware(1)
    with (
        caplog.at_level(logging.WARNING),
        pytest.raises(HungError, match=r"^j1: stays in INIT .*for 5 s.*try again.*power off"),
    ):
        bench.system.on_activate(bench.state)
    assert [text for text in caplog.messages if "waiting for PREOP: slave 1 (j1): INIT" in text]
    assert not [text for text in caplog.messages if "retrying from the start" in text]
    assert bench.system._master._master is None


class Slaves(SteppedTime):
    """Three slaves; the second goes to PREOP after that many requests, or never."""

    def __init__(self, second: AlStatus, asked: float) -> None:
        self.now = 0.0
        self.requests: list[tuple[int, AlState, bool]] = []
        self._second, self._asked = second, asked
        self.stop = threading.Event()

    def clock(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds

    def states(self) -> list[AlStatus]:
        there = AlStatus(AlState.PREOP)
        return [there, self._second if len(self.requests) < self._asked else there, there]

    def request_slave_state(self, slave: int, state: AlState, *, acknowledge: bool = False) -> None:
        self.requests.append((slave, state, acknowledge))

    def wait_for_preop(self) -> None:
        wait_for_preop(self, self, ("a", "b", "c"), PREOP_TIMEOUT, self.stop)


REFUSING = AlStatus(AlState.INIT, True, 0x16, "Invalid mailbox configuration")


def test_late_slave_gets_the_request_again_and_its_error_acknowledged() -> None:
    slaves = Slaves(REFUSING, asked=3)
    slaves.wait_for_preop()
    assert slaves.requests == [(1, AlState.PREOP, True)] * 3


@pytest.mark.parametrize("second", [AlStatus(AlState.NONE), REFUSING])
def test_slave_that_is_lost_or_refuses_is_worth_a_second_try(second: AlStatus) -> None:
    with pytest.raises(BringUpError, match=r"not in PREOP: slave 1 \(b\): "):
        Slaves(second, asked=inf).wait_for_preop()


@pytest.mark.parametrize("state", [AlState.INIT, AlState.OP])
def test_slave_that_answers_and_does_nothing_hangs(state: AlState) -> None:
    with pytest.raises(HungError, match=rf"^b: stays in {state.name} "):
        Slaves(AlStatus(state), asked=inf).wait_for_preop()


def test_an_end_of_the_bring_up_is_not_kept_waiting_by_a_drive_that_does_not_come() -> None:
    """Else its thread would still own the ring when the control process ends."""
    slaves = Slaves(AlStatus(AlState.INIT), asked=inf)
    slaves.on_sleep = lambda now: slaves.stop.set() if now > 1.0 else None
    with pytest.raises(BringUpError, match="stopped before PREOP"):
        slaves.wait_for_preop()
    assert slaves.now < 1.0 + 2 * REQUEST_INTERVAL
