"""Faults of the serial line between the host and its CAN adapter, on the stepped robot."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from fault_campaign.disturbing.disturbances import on_bus
from fault_campaign.kinds.can import guarded
from fault_campaign.kinds.combined.exits import Exit, exit_kind, random_moment, simulated
from fault_campaign.kinds.kind import BLOCK, LETS_GO, Kind, Outcome, RefutedError, Scene, on_its_bus
from fault_campaign.robot import SLCAN
from fault_campaign.robot_joints import TargetJoint
from humanoid_devices_can.reason_codes import RX_TIMEOUT, TX_QUEUE_OVERRUN
from humanoid_stepped.wires.serial_can import OUTGOING, SerialAdapter
from humanoid_twin.can.control import CanMethods

_PER_BYTE: Final = (0.00001, 0.001)  # probability; a line of a frame has 27 bytes
_CUT: Final = (1, 200)  # [bytes] in a row
_CUTS: Final = (1, 4)
_APART: Final = (0.3, 0.6)  # [s] from one to the next
_LETTERS: Final = ("F", "V", "FV")  # requests for the flags and for the version
_ANSWERS: Final = (0.03, 0.05)  # share; the host may miss five between two requests for flags
_WATCHED: Final = 2.0  # [s]
_WITHIN: Final = 1.0  # [s] until a fall
_LOOK: Final = 0.01  # [s]
_LONGEST_PAUSE: Final = 0.15  # [s]; between two requests for flags are 0.1 s
_RATE: Final = (1, 30)  # [bytes/ms] that a slow line takes; a UART of 115200 bit/s takes 11
_CAPACITY: Final = (1, 64)  # [bytes] that it holds
Disturb = Callable[[CanMethods, float, int], None]  # with a probability and a seed


def _noisy(disturb: Disturb, scene: Scene) -> None:
    disturb(scene.can, scene.dice.uniform(*_PER_BYTE), scene.dice.randrange(1 << 31))


def _clear(can: CanMethods) -> None:
    can.can_lose_bytes(0.0)
    can.can_insert_bytes(0.0)
    can.can_cut_bytes(0)
    can.can_leave_unanswered("")


def _cut(scene: Scene) -> None:
    """Lose bytes in a row, several times."""
    robot = scene.robot
    for _ in range(scene.dice.randint(*_CUTS)):
        scene.can.can_cut_bytes(scene.dice.randint(*_CUT), scene.dice.randrange(1 << 31))
        robot.pass_until(robot.twin.time() + scene.dice.uniform(*_APART))


def _leave_unanswered(scene: Scene) -> None:
    scene.can.can_leave_unanswered(scene.dice.choice(_LETTERS))


def _lose_answers(scene: Scene) -> None:
    """Lose answers. Raises RefutedError if the host sends nothing for `_LONGEST_PAUSE`.

    A second fault can hold the adapter up, or take it off the bus: it sends nothing then.
    """
    robot = scene.robot
    share, seed = scene.dice.uniform(*_ANSWERS), scene.dice.randrange(1 << 31)
    scene.can.can_leave_unanswered("", share, seed)
    sent, sent_at = 0, scene.began
    while robot.twin.time() < scene.began + _WATCHED:
        robot.pass_until(robot.twin.time() + _LOOK)
        now, count = robot.twin.time(), scene.can.can_statistics()["adapter_sent"]
        if count != sent or not scene.alone:
            sent, sent_at = count, now
        if now - sent_at > _LONGEST_PAUSE:
            raise RefutedError(f"the adapter has sent no frame for {now - sent_at:.2f} s")


def _adapter(scene: Scene) -> SerialAdapter:
    adapter = simulated(scene).stepped.virtual.adapters[scene.bus]
    assert isinstance(adapter, SerialAdapter)
    return adapter


def _slow(scene: Scene) -> None:
    adapter = _adapter(scene)
    adapter.rate, adapter.capacity = scene.dice.randint(*_RATE), scene.dice.randint(*_CAPACITY)


def _fast(scene: Scene) -> None:
    adapter = _adapter(scene)
    adapter.rate, adapter.capacity = 0, OUTGOING


def _exit_during(disturb: Callable[[Scene], object], scene: Scene) -> None:
    """Disturb from a moment near the order to end on, until the guard has ended."""
    ending = Exit(scene)
    ending.run([(random_moment(scene), partial(disturb, scene))])
    ending.check()
    if guarded(scene):
        ending.guarded(scene.robot.joints.on_bus(scene.bus))


_line: Final = partial(
    Kind,
    mend=on_bus(_clear),
    strikes=TargetJoint.CAN,
    adapter=SLCAN,
    outcome=Outcome.EITHER,
    within=_WITHIN,
    watched=0.6,
    source=BLOCK,
    codes=(RX_TIMEOUT, TX_QUEUE_OVERRUN),
    undamped=on_its_bus,
    allowed=(LETS_GO,),
)
_exit: Final = partial(exit_kind, mend=on_bus(_clear), adapter=SLCAN)
_lose: Final = partial(_noisy, CanMethods.can_lose_bytes)
_insert: Final = partial(_noisy, CanMethods.can_insert_bytes)

KINDS: Final = (
    _line(name="can: bytes of the serial line lost", inject=_lose),
    _line(name="can: bytes inserted into the serial line", inject=_insert),
    _line(
        name="can: serial line cut for a moment",
        inject=_cut,
        within=_CUTS[1] * _APART[1] + _WITHIN,  # a second fault comes after the last cut
    ),
    _line(name="can: serial line slow", inject=_slow, mend=_fast),
    _line(
        name="can: serial adapter leaves requests unanswered",
        inject=_leave_unanswered,
        outcome=Outcome.STAYS,
        codes=(),
    ),
    _line(
        name="can: answers of the serial adapter lost",
        inject=_lose_answers,
        outcome=Outcome.STAYS,
        within=_WATCHED + _WITHIN,  # a second fault comes after the first was watched
        watched=_WATCHED,
        codes=(),
    ),
    _exit(name="exit: bytes of the serial line lost", inject=partial(_exit_during, _lose)),
    _exit(
        name="exit: serial adapter leaves requests unanswered",
        inject=partial(_exit_during, _leave_unanswered),
    ),
    _exit(
        name="exit: serial line slow",
        inject=partial(_exit_during, _slow),
        mend=_fast,
    ),
)
