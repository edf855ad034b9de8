"""Faults of the joint stream's clients and of its server, on the stepped robot.

The robot follows no longer, without a fault and in its mode: the truth shows that its joints are
soft. Each mend then compares the answers of server and robot with that, and has a client continue.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any, Final

from fault_campaign.campaign_controllers import JOINT_STREAM_FILE
from fault_campaign.disturbing.stream import DAMPING, STIFFNESS
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.combined.exits import simulated
from fault_campaign.kinds.kind import Allowed, Kind, Outcome, RefutedError, RequiredRecord, Scene
from fault_campaign.kinds.moving.stream_checks import (
    cleared,
    ended,
    goes_on,
    refused,
    stays_in_remote,
    stream_of,
)
from fault_campaign.kinds.operators import STOP, let_go, stop
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import Start
from fault_campaign.stepped.stream_client import HORIZON, JointStream
from humanoid_control_common.rules.modes import Mode
from humanoid_controllers.reason_codes import EMERGENCY_STOP
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_stream.facts import SECOND
from humanoid_joint_stream.shared.records import SentCommand
from humanoid_joint_stream.shared.slot import Slot

Change = Callable[[Any, int], object]  # of an update; the number is that of the joint struck
_STATED: Final = 1.5  # [s] until a mode, or the end of a stream, is stated
_LATE: Final = 0.08  # [s] of a delayed update, at most: its command is not over yet
_LOST, _DOUBLED = 0.3, 0.3  # share of the updates
_IN_A_ROW: Final = 10  # updates, 0.1 s; a command is over after 0.15 s
_HORIZONS: Final = (0.1, 0.6)  # [s] of the commands of a server that stops: it is silent at 0.2 s
_STOPS: Final = (0.3, 0.8)  # [s] longer than it may be silent
_STATEMENTS: Final = 10  # more than the writing of a value has
_LOOK: Final = 0.001  # [s]
_SLOW: Final = 0.02  # [rad/s] some joint is always faster, as all move
_SECOND_KEYS: Final = 1 << 20  # keys of the second client begin here
_LEASE: Final = 2.0  # [s]
_LEASE_ENDS: Final = _LEASE + 0.4  # [s] after it was kept last


def _following(strike: Callable[[Scene], object]) -> Callable[[Scene], None]:
    """Strike a robot that follows. Raises RefutedError if it does not."""

    def inject(scene: Scene) -> None:
        if stream_of(scene).execution is not Execution.FOLLOWING:
            raise RefutedError(f"the robot does not follow: {stream_of(scene).execution.name}")
        strike(scene)

    return inject


def _spoil(change: Change, share: float = 1.0) -> Callable[[Scene], None]:
    """Change a share of the updates from now on; if not all, at most _IN_A_ROW one after another.

    With more in a row the latest good command would be over.
    """

    def strike(scene: Scene) -> None:
        stream, dice = stream_of(scene), scene.dice
        joint = stream.server.file.facts.joints.index(scene.joint)
        row = 0

        def spoil(update: Any) -> None:
            nonlocal row
            row = row + 1 if dice.random() < share and (share == 1.0 or row < _IN_A_ROW) else 0
            if row:
                change(update, joint)

        stream.client.spoil = spoil

    return strike


def _put(field: str, value: float) -> Change:
    def change(update: Any, joint: int) -> None:
        getattr(update, field)[joint] = value

    return change


def _fast(update: Any, joint: int) -> None:
    update.velocity[joint] = 50.0
    update.extrapolation_duration = round(HORIZON * SECOND)


def _gains(value: float) -> Change:
    """Give both gains of the joint this value."""

    def change(update: Any, joint: int) -> None:
        count = len(update.position)
        for field, usual in (("k_q_p", STIFFNESS), ("k_qd_p", DAMPING)):
            gains = [value if it == joint else usual for it in range(count)]
            update.gains.MergeFrom(pb.Gains(**{field: gains}))

    return change


def _short(update: Any, _joint: int) -> None:
    del update.position[-1]


def _endless(update: Any, _joint: int) -> None:
    update.end_time += 3600 * SECOND


def _silent(scene: Scene) -> None:
    stream_of(scene).client.silent = True


def _dies(scene: Scene) -> None:
    stream_of(scene).client.die()


def _line(scene: Scene) -> None:
    """Updates are lost, late, doubled, and overtake each other."""
    dice = scene.dice

    def delays() -> Sequence[float]:
        if dice.random() < _LOST:
            return ()
        copies = 2 if dice.random() < _DOUBLED else 1
        return [dice.uniform(0.0, _LATE) for _ in range(copies)]

    stream_of(scene).client.delays = delays


def _too_late(scene: Scene) -> None:
    dice = scene.dice
    stream_of(scene).client.delays = lambda: (HORIZON + dice.uniform(0.0, _LATE),)


def _any_horizon(scene: Scene) -> None:
    """Let commands end before, or after, the silence of the server is noticed."""
    stream_of(scene).client.horizon = scene.dice.uniform(*_HORIZONS)
    scene.robot.machine.sleep(scene.dice.uniform(0.05, 0.1))
    scene.begins()


def _killed(scene: Scene) -> None:
    _any_horizon(scene)
    stream_of(scene).server.process.kill()


def _killed_while_it_writes(scene: Scene) -> None:
    """It is killed between any two statements that write a command, of which some is written."""
    _killed(scene)
    slot, left = stream_of(scene).server.file.commands, scene.dice.randrange(_STATEMENTS)
    latest = slot.read()
    if latest is None:
        raise RefutedError("no whole command is in the slot")
    before = SentCommand.from_bytes(latest[1])
    longer = replace(before.command, end=before.command.end + SECOND)

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal left
        if frame.f_code is not Slot.write.__code__:
            return None
        left -= event == "line"
        if left < 0:
            raise _Killed
        return trace

    sys.settrace(trace)
    try:
        slot.write(replace(before, command=longer).to_bytes())
    except _Killed:
        pass
    finally:
        sys.settrace(None)


class _Killed(BaseException):
    """The process ends at this statement."""


def _stopped(scene: Scene) -> None:
    """The server continues, with all updates that have arrived meanwhile."""
    _any_horizon(scene)
    process, scheduler = stream_of(scene).server.process, simulated(scene).stepped.scheduler
    process.hold()
    later = round(scene.dice.uniform(*_STOPS) * SECOND)
    scheduler.call_at(scheduler.now + later, process.resume)


def _lease(scene: Scene) -> None:
    stream_of(scene).client.keeps = False


def _taken_over(scene: Scene) -> None:
    """A second client gets the lease of the first, which goes on sending.

    Raises RefutedError if it gets it too early or not at all, or if the robot then executes a
    command of the first.
    """
    stream, robot, dice = stream_of(scene), scene.robot, scene.dice
    first, second = stream.client, stream.another(first_key=_SECOND_KEYS)
    if second.acquire():
        raise RefutedError("a second client gets a lease that is kept")
    first.keeps = False
    due = robot.machine.clock() + 1.5 * _LEASE
    while not second.acquire():
        if robot.machine.clock() > due:
            raise RefutedError("a second client gets no lease")
        robot.machine.sleep(_LOOK)
    stream.client = second
    status, activated = second.activate(), robot.machine.clock_ns()
    if status is not Status.OK:
        raise RefutedError(f"the second client cannot activate: {status.name}")
    if first.stream.end is None or first.stream.end.status is not Status.NO_LEASE:
        raise RefutedError(f"the stream without a lease ends with {first.stream.end}")
    begins = robot.machine.clock() + dice.uniform(0.0, 0.1)
    while robot.machine.clock() < begins:
        robot.machine.sleep(_LOOK)
        told = stream.server.file.report()
        if told.applied_time > activated and told.applied_key < _SECOND_KEYS:
            raise RefutedError("a command of the first client is executed for the second")
    second.start()


def _limited(scene: Scene) -> None:
    def limit(update: Any) -> None:
        update.velocity_safety_limit = _SLOW

    stream_of(scene).client.spoil = limit


def _leaves(scene: Scene) -> None:
    """The operator requests DAMPING; the client goes on sending, and activates again and again."""
    stream, observer = stream_of(scene), scene.robot.observer
    observer.request(Mode.DAMPING)
    if not observer.within(_STATED, lambda: observer.now.mode == Mode.DAMPING):
        raise RefutedError(f"mode {observer.now.mode}: {observer.now.status_message!r}")
    refused(scene, Status.NOT_READY)
    observer.within(_STATED, lambda: stream.client.stream.end)
    end = stream.client.stream.end
    if end is None or end.status is not Status.INACTIVE or "DAMPING" not in end.message:
        raise RefutedError(f"the stream ends with {end}, and the mode is DAMPING")


def _latched(scene: Scene) -> None:
    """The fault ends, the fall stays latched. Raises RefutedError if a client may activate."""
    let_go(scene)
    scene.robot.observer.within(scene.dice.uniform(0.0, 0.3), lambda: False)
    refused(scene, Status.FAULT)


def _before_the_first_update(end: Callable[[JointStream], object]) -> Callable[[Scene], None]:
    """Activate a client that sends nothing, and end it or its server."""

    def inject(scene: Scene) -> None:
        robot, observer = simulated(scene), scene.robot.observer
        loaded = observer.loads(JOINT_STREAM_FILE, _STATED)
        if not (loaded and observer.comes_to(Mode.REMOTE, _STATED)):
            raise RefutedError(f"no REMOTE: {observer.now.status_message!r}")
        stream = robot.stream = JointStream(robot.stepped, observer, scene.scenario.waves)
        scene.ends.callback(stream.end)
        stream.client.silent = True
        active = stream.begin()
        robot.machine.sleep(scene.dice.uniform(0.0, 0.2))
        if not active or stream.execution is not Execution.HOLDING:
            raise RefutedError(f"no pose is held for the client: {stream.execution.name}")
        scene.begins()
        end(stream)

    return inject


_UNLIMITED: Final = (
    Allowed(ViolationType.JUMP, 0.06, "a wrist goes at its speed limit at once"),
    Allowed(ViolationType.JUMP, 0.09, "a joint goes at its speed limit at once", robot="lite"),
)
_MEETS: Final = (
    Allowed(
        ViolationType.JUMP, 0.1, "an arm meets its stop, its next joint swings on", robot="lite"
    ),
)
_kind: Final = partial(Kind, starts=(Start.JOINT_STREAM,), follows=True, within=0.3)


def _stops(name: str, strike: Callable[[Scene], object], *statuses: Status, **others: Any) -> Kind:
    """Return a kind that ends the stream in one of these ways; none: with its server."""
    inject, outcome = _following(strike), Outcome.STOPS
    fields: dict[str, Any] = {"inject": inject, "mend": ended(*statuses)} | others
    return _kind(name=f"joint stream: {name}", outcome=outcome, **fields)


def _goes(name: str, strike: Callable[[Scene], object], **others: Any) -> Kind:
    """Return a kind that the robot follows as if nothing had happened."""
    return _kind(
        name=f"joint stream: {name}",
        inject=_following(strike),
        mend=goes_on,
        outcome=Outcome.STAYS,
        watched=0.6,
        **others,
    )


_off: Final = partial(
    _kind, outcome=Outcome.OFF, filed=RequiredRecord.NOTHING, requests_modes=True, alone=True
)
_held: Final = partial(_off, starts=(Start.STANDBY_FINISHED,), mend=stays_in_remote)
_not_a_number: Final = _put("position", math.nan)

KINDS: Final = (
    _stops("client stops sending", _silent, Status.EXPIRED),
    _stops("client killed", _dies, Status.INACTIVE, within=0.2),
    _stops("updates after their end", _too_late, Status.EXPIRED),
    _stops("NaN in all updates", _spoil(_not_a_number), Status.EXPIRED),
    _stops("an array too short", _spoil(_short), Status.INVALID_REQUEST),
    _stops("negative gains", _spoil(_gains(-1.0)), Status.INVALID_REQUEST),
    _stops(
        "gains that a drive does not take",
        _spoil(_gains(0.0)),
        Status.UNSUPPORTED,
        strikes=TargetJoint.RING,
    ),
    _stops("an end in an hour", _spoil(_endless), Status.TOO_DISTANT),
    _stops("lease runs out", _lease, Status.NO_LEASE, within=_LEASE_ENDS),
    _stops("server killed between two updates", _killed),
    _stops("server killed while it writes", _killed_while_it_writes),
    _stops("server stopped for a while", _stopped, Status.EXPIRED, Status.INACTIVE, watched=1.2),
    _stops("a joint beyond the velocity limit", _limited, mend=cleared, alone=True),
    _goes("updates lost, late, double and out of order", _line),
    _goes("NaN in half of the updates", _spoil(_not_a_number, 0.5)),
    _goes("huge velocity", _spoil(_fast), allowed=_UNLIMITED),
    _goes("huge position", _spoil(_put("position", 1e9)), allowed=_MEETS),
    _goes("no gains", _spoil(_gains(0.0)), strikes=TargetJoint.CAN),
    _goes("second client takes over", _taken_over, alone=True),
    _off(name="joint stream: operator requests DAMPING", inject=_following(_leaves), within=0.5),
    _held(
        name="joint stream: client killed before its first update",
        inject=_before_the_first_update(lambda stream: stream.client.die()),
        within=_LEASE_ENDS,
    ),
    _held(
        name="joint stream: server killed before the first update",
        inject=_before_the_first_update(lambda stream: stream.server.process.kill()),
    ),
    _kind(
        name="joint stream: client activates while a fall is latched",
        inject=_following(stop),
        mend=_latched,
        within=0.5,
        source=STOP,
        codes=(EMERGENCY_STOP,),
        alone=True,
    ),
)
