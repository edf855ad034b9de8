"""Programs that are started before their turn."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from humanoid_bringup.supervision.early_start import EarlyStart
from humanoid_bringup.supervision.processes import Command, OrphanReaper
from humanoid_control_common.errors import ConfigError

# As the control process: signals set a flag.
WAITING = """
import signal
from humanoid_control_common.machine.start_permission import StartPermission, Step
signal.signal(signal.SIGTERM, lambda *_: None)
StartPermission().wait_for(Step.START)
"""


@pytest.fixture
def reaper() -> Iterator[OrphanReaper]:
    with OrphanReaper() as reaper:
        yield reaper


def test_early_program_is_killed_after_a_configuration_error(reaper: OrphanReaper) -> None:
    command = Command("a", (sys.executable, "-c", WAITING))
    early = EarlyStart([command], reaper, os.environ)
    (child,) = early._waiting.values()
    with pytest.raises(ConfigError), early:
        raise ConfigError("wrong")
    assert not child.running


def test_program_that_cannot_be_started_is_left_to_its_turn(reaper: OrphanReaper) -> None:
    command = Command("a", ("/nowhere/absent",))
    with EarlyStart([command], reaper, os.environ) as early:
        assert early.take(command) is None
