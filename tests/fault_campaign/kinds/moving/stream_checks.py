"""Checks of server and robot after a fault of the joint stream, and a client that begins again.

The robot has left its client for a fault of the stream, and remains in REMOTE. Another fault may
lead it out of REMOTE, also during a check: then nothing is demanded of the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from fault_campaign.kinds.combined.exits import simulated
from fault_campaign.kinds.kind import RefutedError, Scene
from fault_campaign.stepped.stream_client import JointStream
from humanoid_control_common.rules.modes import Mode
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_stream.facts import SECOND
from humanoid_joint_stream.server.session import Session, StandingFault

# [s] docs/diagnostics.md: from a new remark of a controller to the diagnosis that tells it.
_TOLD: Final = 0.1
_NOISE: Final = 0.03  # [rad/s] of a measured velocity
_MEASURED: Final = 0.06  # [s] a velocity is older than the tick that judges it, at most


def stream_of(scene: Scene) -> JointStream:
    stream = simulated(scene).stream
    assert stream is not None, "its client is there in REMOTE by the joint stream only"
    return stream


def refused(scene: Scene, status: Status) -> None:
    found = stream_of(scene).client.activate()
    if found is not status:
        raise RefutedError(f"an activation is answered with {found.name}, expected {status.name}")


def ended(*statuses: Status) -> Callable[[Scene], None]:
    """Return a mend: the stream has ended in one of these ways, and the robot says that it has.

    Of a server that was killed no client gets a status: give none.
    """

    def mend(scene: Scene) -> None:
        if not in_remote(scene):
            return
        end = stream_of(scene).client.stream.end
        if (end.status if end else None) not in (statuses or (None,)):
            raise RefutedError(f"the stream ends with {end}, expected {statuses}")
        observer = scene.robot.observer
        told = observer.within(_TOLD, lambda: "joint stream has ended" in observer.mode_diagnosis)
        if not in_remote(scene):
            return
        if not told:
            raise RefutedError(f"the end of the stream is not told: {observer.mode_diagnosis!r}")
        stream_of(scene).replace_client()
        _begins(scene)

    return mend


def stays_in_remote(scene: Scene) -> None:
    """End server and client of a robot that held the pose for them, and let go."""
    if scene.robot.observer.now.mode != Mode.REMOTE:
        raise RefutedError(f"mode {scene.robot.observer.now.mode}, and no fault")
    scene.ends.close()


def in_remote(scene: Scene) -> bool:
    """Return whether REMOTE is in force. Raises RefutedError if no other fault has ended it."""
    now = scene.robot.observer.now
    if now.mode == Mode.REMOTE:
        return True
    if scene.alone:
        raise RefutedError(f"mode {now.mode} without another fault: {now.status_message!r}")
    return False


def _begins(scene: Scene) -> None:
    """Have a client begin again; it needs no new STANDBY. Raises RefutedError if it does not."""
    stream = stream_of(scene)
    active = stream.begin()
    if stream.execution is not Execution.FOLLOWING and in_remote(scene):
        raise RefutedError(f"no client can begin: active {active}, {stream.execution.name}")


def goes_on(scene: Scene) -> None:
    """Raises RefutedError if the robot does not follow any more."""
    stream = stream_of(scene)
    if in_remote(scene) and stream.execution is not Execution.FOLLOWING:
        end = stream.client.stream.end
        raise RefutedError(f"the robot does not follow: {stream.execution.name}, {end}")


def _clears(fault: StandingFault, session: Session, _now: int) -> None:
    session.clear_own_fault(fault)


def cleared(scene: Scene) -> None:
    """The fault is told truly, stands until it is cleared, and a client may begin at once then."""
    stream, robot = stream_of(scene), scene.robot
    found = stream.server.file.report()
    if not found.fault:
        raise RefutedError("no joint is found to be beyond the velocity limit")
    recording = robot.twin.recorded()
    time = found.fault_time / SECOND - robot.machine.clock() + robot.twin.time()
    rows = (recording.time > time - _MEASURED) & (recording.time <= time)
    name = stream.server.file.facts.joints[found.fault_joint]
    speeds = np.abs(recording.velocity[rows, recording.names.index(name)])
    if not speeds.min() - _NOISE <= found.fault_velocity <= speeds.max() + _NOISE:
        raise RefutedError(f"{name}: {found.fault_velocity:.2f} rad/s, in truth {speeds.max():.2f}")
    refused(scene, Status.FAULT)
    stream.replace_client()
    for fault in stream.server.answer(lambda it, _: it.standing_faults()) or ():
        stream.server.call(partial(_clears, fault))
    _begins(scene)
