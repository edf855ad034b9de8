"""Commands of `hc` on a robot whose system's clock is set."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from test_support.stepped.hc_client import SteppedClient
from test_support.stepped.stack import Stack

from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.motion.trajectory_client import _RobotTime
from humanoid_control_common.rules.modes import Intent, Mode

HOUR = 3600 * 10**9  # [ns]
LONGEST = 10.0  # [s] for STANDBY, which takes 2 s


class ImpatientClient(SteppedClient):
    """The same client, for a wait that could have no end."""

    def wait(self, condition: Callable[[], object], timeout: float) -> bool:
        """See Client. Raises AssertionError if one wait takes LONGEST."""
        assert timeout >= LONGEST
        assert super().wait(condition, LONGEST), f"waited {LONGEST:g} s in vain"
        return True


@pytest.mark.parametrize("step", [-HOUR, HOUR], ids=["back", "forward"])
def test_the_wait_for_the_ready_pose_ends_with_standby_although_the_clock_is_set(
    prime: Stack, step: int
) -> None:
    with ImpatientClient(prime.robot) as client:
        modes = ModeClient(client)
        began = modes.request(Intent.LOAD)
        prime.pass_time(0.5)
        prime.robot.scheduler.system_offset = step
        prime.pass_time(0.1)
        modes.wait_for_ready_pose(began)
    prime.pass_time(0.1)  # until its state reaches the other participant, too
    assert prime.has_finished_standby()


@pytest.mark.parametrize("step", [-HOUR, 0, HOUR], ids=["back", "not set", "forward"])
def test_an_earlier_standby_does_not_end_the_wait_for_the_ready_pose(
    prime: Stack, step: int
) -> None:
    prime.enter(Mode.STANDBY)
    prime.client.until(prime.has_finished_standby, "the ready pose")
    prime.enter(Mode.DAMPING)
    prime.robot.scheduler.system_offset = step
    prime.pass_time(1.0)
    prime.client.standby.clear()
    with ImpatientClient(prime.robot) as client:
        modes = ModeClient(client)
        modes.wait_for_ready_pose(modes.request(Intent.LOAD))
    prime.pass_time(0.1)  # until its state reaches the other participant, too
    assert prime.has_finished_standby()


@pytest.mark.parametrize("step", [-HOUR, 0, HOUR], ids=["back", "not set", "forward"])
def test_the_time_that_a_motion_may_take_passes_although_the_clock_is_set(
    prime: Stack, step: int
) -> None:
    with SteppedClient(prime.robot) as client:
        time = _RobotTime(client)
        prime.pass_time(1.0)
        time.elapsed()
        prime.robot.scheduler.system_offset = step
        prime.pass_time(1.0)
        assert time.elapsed() == pytest.approx(2.0, abs=1.05)
        prime.pass_time(1.0)
        assert time.elapsed() == pytest.approx(3.0, abs=1.05)
