"""What the witness believes to have heard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from humanoid_control_msgs.msg import ControlMode

from faults.witness import Witness
from humanoid_bringup_prime.testing import be_on_a_free_domain

BEFORE, AFTER = "of the process before", "of the process now"


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Iterator[Witness]:
    be_on_a_free_domain(monkeypatch.setenv)
    with Witness() as found:
        yield found


def _said(witness: Witness, anew: bool) -> list[str]:
    """Whom it hears, if a process ended and another one began while nobody listened."""
    # Within a participant a sample waits to be taken as soon as it is published.
    speaker = witness.node.create_publisher(ControlMode, "/control_mode", 10)
    speaker.publish(ControlMode(mode=1, controller_name=BEFORE))
    if anew:
        witness.listen_anew()
    speaker.publish(ControlMode(mode=0, controller_name=AFTER))
    witness.until(lambda: witness.statements and witness.now.controller_name == AFTER, AFTER)
    return [it.controller_name for it in witness.statements]


def test_what_a_process_said_before_its_end_waits_for_whoever_listens_late(
    witness: Witness,
) -> None:
    assert _said(witness, anew=False) == [BEFORE, AFTER]


def test_who_listens_anew_hears_nothing_of_a_process_that_has_ended(witness: Witness) -> None:
    assert _said(witness, anew=True) == [AFTER]
    witness.listen_anew()
    assert witness.statements == []
