"""Lead a robot from DAMPING to the mode in which a fault comes."""

from __future__ import annotations

from typing import Final

from fault_campaign.campaign_controllers import JOINT_STREAM_FILE, TRAJECTORY_FILE
from fault_campaign.judging.observer import Observer
from fault_campaign.scenario import Start
from humanoid_control_common.rules.modes import Mode

TIMEOUT: Final = 6.0  # [s] to reach the scenario
SINKS: Final = 15.0  # [s] limit until raised arms hang
MODES: Final = {
    Start.ZERO_TORQUE: Mode.ZERO_TORQUE,
    Start.DAMPING: Mode.DAMPING,
    Start.STANDBY_MOVING: Mode.STANDBY,
    Start.STANDBY_FINISHED: Mode.STANDBY,
    Start.REMOTE: Mode.REMOTE,
    Start.LOCOMOTION: Mode.LOCOMOTION,
    Start.TRAJECTORIES: Mode.REMOTE,
    Start.JOINT_STREAM: Mode.REMOTE,
}
_LOADED: Final = {Start.TRAJECTORIES: TRAJECTORY_FILE, Start.JOINT_STREAM: JOINT_STREAM_FILE}


def lead_to_start(observer: Observer, start: Start) -> bool:
    """Lead a healthy robot to `start`. Return True if that mode came into force."""
    if start is Start.DAMPING:
        return True
    if start is Start.ZERO_TORQUE:
        # The request is refused while an arm sinks.
        return observer.comes_to(Mode.ZERO_TORQUE, SINKS)
    observer.standby.clear()
    ready = start not in _LOADED or observer.loads(_LOADED[start], TIMEOUT)
    if not (ready and observer.comes_to(Mode.STANDBY, TIMEOUT)):
        return False
    if start is Start.STANDBY_MOVING:
        return True
    finished = observer.within(
        TIMEOUT,
        lambda: (
            bool(observer.standby and observer.standby[-1].is_finished)
            or observer.now.mode != Mode.STANDBY
        ),
    )
    if not finished or start is Start.STANDBY_FINISHED:
        return finished and observer.now.mode == Mode.STANDBY
    return observer.comes_to(MODES[start], TIMEOUT)
