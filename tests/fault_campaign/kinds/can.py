"""Faults of the CAN bus and its motors."""

from __future__ import annotations

from functools import partial
from typing import Final

from fault_campaign.disturbing.disturbances import LATE, every, motor, on_bus, rare
from fault_campaign.judging.cause import Cause
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.kind import (
    BLOCK,
    JOINT,
    LETS_GO,
    Allowed,
    Kind,
    Outcome,
    Recovery,
    Scene,
    health_demanded,
    on_its_bus,
    struck,
)
from fault_campaign.robot import SLCAN
from fault_campaign.robot_joints import NO_MOTOR, TargetJoint
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_control_common.rules.safety import SafetyFlag
from humanoid_controller_manager.reason_codes import JOINT_DOES_NOT_FOLLOW
from humanoid_devices_can.reason_codes import (
    ADAPTER_GONE,
    BUS_OFF,
    COMMANDS_NOT_EXECUTED,
    DUPLICATE_ID,
    ERROR_FRAMES,
    MOTOR_DISABLED,
    MOTOR_FAULT,
    NOT_ACKNOWLEDGED,
    RX_TIMEOUT,
    TX_QUEUE_OVERRUN,
)
from humanoid_twin.can.control import CanMethods

SILENCE: Final = 0.7  # [s] until silent motors are detected, and the arms are soft
_HOT: Final = 150.0  # [°C] beyond the limits of all families: 100 °C, 145 °C
_KEEPS_TORQUE: Final = "it keeps its torque, which held a load that is gone when the arm sinks"
_EXTENDED: Final = 0.5  # share of the strange frames
_REPLUGGED: Final = 0.3  # [s] from unplugging one adapter until plugging in the next


def guarded(scene: Scene) -> tuple[str, ...]:
    """Return the joints whose motors have no watchdog: without the stack they stay stiff."""
    return scene.robot.joints.of(TargetJoint.GUARDED)


def unreachable(scene: Scene) -> list[str]:
    """Return such joints on the bus that is struck: no frame reaches them if it is broken."""
    return [it for it in scene.robot.joints.on_bus(scene.bus) if it in guarded(scene)]


def unreachable_while_off(scene: Scene) -> list[str]:
    """Return the joints that no frame reaches at bus-off: a serial adapter does not leave it."""
    return unreachable(scene) if scene.robot.adapter == SLCAN else []


def unheard(scene: Scene) -> list[str]:
    """Return the joint that is struck if its motor has no watchdog: it stays stiff."""
    return [it for it in guarded(scene) if it == scene.joint]


def _strangers(scene: Scene) -> None:
    """Send frames of other devices. None has an address of a motor, which would obey it."""
    dice, joints = scene.dice, scene.robot.joints
    motors = {int(joints.motor(it)) for it in joints.on_bus(scene.bus)}
    for _ in range(20):
        data = bytes(dice.randrange(256) for _ in range(dice.randrange(9)))
        extended = dice.random() < _EXTENDED
        bits = 29 if extended else 11
        identifier = dice.randrange(1 << bits)
        while extended and motors & {identifier & 0xFF, identifier >> 8 & 0xFF}:
            identifier = dice.randrange(1 << bits)
        scene.can.can_stray(identifier, data, extended=extended)


def _other_adapter(scene: Scene) -> None:
    """Replace the adapter by one that has no command for its flags."""
    can, robot = scene.can, scene.robot
    can.can_flags(False)
    can.can_unplug()
    robot.pass_until(robot.twin.time() + _REPLUGGED)
    can.can_plug_in()


def _first_adapter(scene: Scene) -> None:
    """Demand health with the other adapter, then plug the first one in."""
    try:
        with health_demanded("an adapter without flags"):
            scene.robot.healthy()
    finally:
        scene.can.can_flags(True)  # opened again by the restart


def _power_twice(can: CanMethods, identifier: int) -> None:
    can.can_power_off(identifier)
    can.can_power_on(identifier)


# Reasons of a bus that loses or delays frames.
_POOR: Final = (RX_TIMEOUT, TX_QUEUE_OVERRUN, BUS_OFF)
_kind: Final = partial(Kind, strikes=TargetJoint.CAN)
_rare: Final = partial(
    _kind, outcome=Outcome.EITHER, within=1.0, source=BLOCK, codes=_POOR, undamped=on_its_bus
)
_noticed: Final = partial(_kind, within=SILENCE, source=BLOCK, undamped=struck)
_bus: Final = partial(_noticed, spared=unreachable, undamped=on_its_bus, allowed=(LETS_GO,))
_motor: Final = partial(_noticed, flags=SafetyFlag.RX_TIMEOUT, codes=(RX_TIMEOUT,), named=(JOINT,))


def _disabled(code: ReasonCode) -> list[Cause]:
    """Return both causes of a motor that disables itself: silence, or an answer with `code`.

    A Sito motor does the first, a Robstride motor the second.
    """
    told = ((RX_TIMEOUT, SafetyFlag.RX_TIMEOUT), (code, SafetyFlag.MOTOR_FAULT))
    return [
        Cause(codes=(it.name,), named=(JOINT,), source=BLOCK, flags=flags) for it, flags in told
    ]


_FRAMES: Final = (
    rare(_rare, "can: frames lost", lambda scene, chance: scene.can.can_drop(chance)),
    rare(_rare, "can: frames late", lambda scene, chance: scene.can.can_late(chance, LATE)),
    rare(
        partial(_rare, codes=(*_POOR, DUPLICATE_ID)),
        "can: frames double",
        lambda scene, chance: scene.can.can_double(chance),
    ),
    _kind(
        name="can: frames destroyed, up to 100 in a row",
        inject=lambda scene: scene.can.can_corrupt_next(scene.dice.randint(1, 100)),
        # A serial adapter that went bus-off has sent fewer.
        mend=lambda scene: scene.can.can_corrupt_next(0),
        outcome=Outcome.EITHER,
        within=SILENCE,
        spared=unreachable,
        undamped=on_its_bus,
        source=BLOCK,
        codes=_POOR,
    ),
    every(
        partial(_bus, flags=SafetyFlag.RX_TIMEOUT),
        "can: all frames lost",
        lambda scene, chance: scene.can.can_drop(chance),
        RX_TIMEOUT,
    ),
    _kind(name="can: frames of strangers", inject=_strangers, outcome=Outcome.STAYS),
)
_BUS: Final = (
    _bus(
        name="can: bus-off",
        inject=on_bus(CanMethods.can_bus_off),
        flags=SafetyFlag.BUS_OFF,
        codes=(BUS_OFF,),
    ),
    _bus(
        name="can: adapter unplugged",
        inject=on_bus(CanMethods.can_unplug),
        mend=on_bus(CanMethods.can_plug_in),
        flags=SafetyFlag.BUS_OFF | SafetyFlag.RX_TIMEOUT,
        codes=(ADAPTER_GONE,),
    ),
    _bus(
        name="can: adapter unplugged, and one without flags plugged in",
        adapter=SLCAN,
        inject=_other_adapter,
        mend=_first_adapter,
        flags=SafetyFlag.BUS_OFF | SafetyFlag.RX_TIMEOUT,
        codes=(ADAPTER_GONE,),
        recovery=Recovery.RESTART,
        alone=True,
    ),
    _bus(
        name="can: motors with another bit rate",
        inject=on_bus(lambda can: can.can_bitrate(500_000)),
        mend=on_bus(lambda can: can.can_bitrate(1_000_000)),
        codes=(RX_TIMEOUT, BUS_OFF, ERROR_FRAMES, NOT_ACKNOWLEDGED),
    ),
    _noticed(
        name="can: power of all motors lost",
        undamped=on_its_bus,
        allowed=(LETS_GO,),
        inject=on_bus(CanMethods.can_power_off),
        mend=on_bus(CanMethods.can_power_on),
        flags=SafetyFlag.RX_TIMEOUT,
        codes=(RX_TIMEOUT,),
    ),
)
_MOTORS: Final = (
    _motor(
        name="can: power of a motor lost",
        inject=motor(CanMethods.can_power_off),
        mend=motor(CanMethods.can_power_on),
    ),
    _noticed(name="can: motor reset", inject=motor(_power_twice), either=_disabled(MOTOR_DISABLED)),
    _motor(
        name="can: firmware of a motor hangs",
        inject=motor(CanMethods.can_freeze),
        mend=motor(lambda can, identifier: can.can_freeze(identifier, False)),
        spared=lambda scene: [scene.joint],
        allowed=(Allowed(ViolationType.SPEED, 4.0, _KEEPS_TORQUE),),
    ),
    _kind(
        name="can: motor ignores its frames",
        inject=motor(CanMethods.can_ignore_frames),
        mend=motor(lambda can, identifier: can.can_ignore_frames(identifier, False)),
        outcome=Outcome.EITHER,  # its effort may be right by chance
        within=2.0,
        watched=2.5,
        spared=lambda scene: [scene.joint],
        # A joint that moves little may be noticed by its measurement first.
        either=[
            *_disabled(COMMANDS_NOT_EXECUTED),
            Cause(codes=(JOINT_DOES_NOT_FOLLOW.name,), named=(JOINT,)),
        ],
        allowed=(Allowed(ViolationType.SPEED, 4.0, _KEEPS_TORQUE),),
    ),
    _motor(
        name="can: motor with another id",
        inject=motor(lambda can, identifier: can.can_change_id(identifier, NO_MOTOR)),
        mend=motor(lambda can, identifier: can.can_change_id(NO_MOTOR, identifier)),
        spared=unheard,
    ),
    _noticed(
        name="can: motor hot",
        inject=motor(lambda can, identifier: can.can_overheat(identifier, _HOT)),
        mend=motor(lambda can, identifier: can.can_overheat(identifier, 25.0)),
        either=_disabled(MOTOR_FAULT),
    ),
    _noticed(
        name="can: motor finds a fault",
        inject=motor(lambda can, identifier: can.can_motor_fault(identifier, 4)),
        either=_disabled(MOTOR_FAULT),
    ),
)

KINDS: Final = (*_FRAMES, *_BUS, *_MOTORS)
