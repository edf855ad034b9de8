"""Faults of the EtherCAT ring and its drives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from fault_campaign.disturbing.disturbances import LATE, every, on_twin, rare, slave
from fault_campaign.judging.cause import Cause
from fault_campaign.kinds.kind import (
    BLOCK,
    JOINT,
    Kind,
    Outcome,
    Recovery,
    Scene,
    on_the_ring,
    struck,
)
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import STIFF
from humanoid_control_common.rules.reason_codes import (
    IMPEDANCE_MANAGER_SILENT,
    IMPEDANCE_NOT_CONFIRMED,
)
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_control_common.rules.safety import SafetyFlag
from humanoid_devices_erob.reason_codes import (
    DRIVE_ERRORS,
    NO_FRAME_RETURNS,
    WORKING_COUNTER_LOW,
)
from humanoid_twin.robot.control import RobotControl

Disturb = Callable[[RobotControl, float], object]  # with a probability
# Reasons of a drive that does not answer: they name the drive or its gains.
_JOINT_OR_IMPEDANCE: Final = (
    Cause(named=(JOINT,)),
    Cause(codes=(IMPEDANCE_NOT_CONFIRMED.name, IMPEDANCE_MANAGER_SILENT.name)),
)
_LOST: Final = (WORKING_COUNTER_LOW, NO_FRAME_RETURNS)
_DRIVE_ERRORS: Final = (0xA000, 0x8500, 0x8400, 0x8130)


def _late(twin: RobotControl, probability: float) -> None:
    twin.late(probability, LATE)


def _frames(disturb: Disturb) -> Callable[[Scene, float], object]:
    return lambda scene, probability: disturb(scene.robot.twin, probability)


def _error(code: int) -> Callable[[RobotControl, int], None]:
    return lambda twin, number: twin.drive_error(number, code)


def _behind(scene: Scene) -> Sequence[str]:
    """Return the joint that is struck and those behind it: no frame reaches them."""
    return scene.robot.joints.of(TargetJoint.RING)[scene.slave :]


def _mailbox(seconds: float) -> Callable[[RobotControl, int], None]:
    return lambda twin, number: twin.mailbox_delay(seconds, number)


_rare: Final = partial(
    Kind,
    outcome=Outcome.EITHER,
    within=1.0,
    strikes=TargetJoint.RING,
    undamped=on_the_ring,
    follows=True,
    codes=(*_LOST, DRIVE_ERRORS[0xA000]),
    named=(BLOCK,),
)
_every: Final = partial(
    Kind,
    strikes=TargetJoint.RING,
    source=BLOCK,
    undamped=on_the_ring,
    follows=True,
    within=0.5,
)
_slave: Final = partial(Kind, strikes=TargetJoint.RING, source=BLOCK, undamped=struck)
_quiet: Final = partial(
    Kind,
    strikes=TargetJoint.RING,
    outcome=Outcome.EITHER,
    either=_JOINT_OR_IMPEDANCE,
    undamped=struck,
)

_RARE: Final[tuple[tuple[str, Disturb], ...]] = (
    ("lost", RobotControl.drop),
    ("late", _late),
    ("double", RobotControl.double),
    ("out of order", RobotControl.overtake),
    ("damaged", RobotControl.damage),
    ("miscounted", RobotControl.miscount),
)
_EVERY: Final[tuple[tuple[str, Disturb, ReasonCode], ...]] = (
    ("lost", RobotControl.drop, NO_FRAME_RETURNS),
    ("late", _late, NO_FRAME_RETURNS),
    ("damaged", RobotControl.damage, NO_FRAME_RETURNS),
    ("miscounted", RobotControl.miscount, WORKING_COUNTER_LOW),
)
# `unclean` below: a slave that was reset is in INIT without a station address and a mailbox. The
# ordered exit cannot read its gate 0x2383 back as 0 and ends with code 1: "may still be armed:
# JOINT: does not go to PREOP, INIT". A power-up closes the gate, but the exit only reports values
# that it has read.
_SLAVES: Final = (
    _slave(
        name="ring: slave reset",
        inject=slave(RobotControl.power_cycle),
        named=(JOINT,),
        recovery=Recovery.RESTART,
        unclean=True,
    ),
    _slave(
        name="ring: slave gone",
        inject=slave(RobotControl.power_off),
        mend=slave(RobotControl.power_on),
        undamped=_behind,
        codes=_LOST,
        recovery=Recovery.RESTART,
        unclean=True,
    ),
    _slave(
        name="ring: cable cut behind a slave",
        inject=slave(lambda twin, number: twin.cut(number - 1)),
        mend=on_twin(RobotControl.mend),
        undamped=_behind,
        codes=_LOST,
    ),
    _slave(
        name="ring: clock of a slave stops",
        inject=slave(RobotControl.dc_off),
        flags=SafetyFlag.MOTOR_FAULT,
        codes=(DRIVE_ERRORS[0xA000],),
        named=(JOINT,),
        recovery=Recovery.RESTART,
    ),
    _quiet(
        name="ring: firmware of a drive hangs",
        inject=slave(RobotControl.freeze_firmware),
        mend=slave(lambda twin, number: twin.freeze_firmware(number, False)),
        spared=lambda scene: [scene.joint],
    ),
)
_DRIVES: Final = (
    *(
        _slave(
            name=f"ring: drive error 0x{code:04X}",
            inject=slave(_error(code)),
            flags=SafetyFlag.MOTOR_FAULT,
            codes=(DRIVE_ERRORS[code],),
            named=(JOINT,),
        )
        for code in _DRIVE_ERRORS
    ),
    Kind(
        name="ring: emergency message without an error",
        inject=slave(lambda twin, number: twin.emergency(number, 0x8130)),
        strikes=TargetJoint.RING,
        outcome=Outcome.STAYS,
    ),
    _quiet(
        name="ring: mailbox of a drive silent",
        inject=slave(_mailbox(float("inf"))),
        mend=slave(_mailbox(0.002)),
        starts=STIFF,
        follows=True,
        within=1.0,
    ),
)

KINDS: Final = (
    *(rare(_rare, f"ring: frames {name}", _frames(disturb)) for name, disturb in _RARE),
    *(
        every(_every, f"ring: all frames {name}", _frames(disturb), code)
        for name, disturb, code in _EVERY
    ),
    *_SLAVES,
    *_DRIVES,
)
