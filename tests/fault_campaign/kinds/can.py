"""Faults of the CAN bus and its motors."""

from __future__ import annotations

from functools import partial
from typing import Final

from fault_campaign.disturbing.disturbances import LATE, every, motor, on_twin, rare
from fault_campaign.judging.violation import Breach
from fault_campaign.kinds.kind import (
    CAN,
    CAN_ONLY,
    JOINT,
    Allowed,
    Kind,
    Outcome,
    Recovery,
    Scene,
    health_demanded,
)
from humanoid_control_common.safety import SafetyFlag
from humanoid_devices_can.reason_codes import (
    ADAPTER_GONE,
    BUS_OFF,
    ERROR_FRAMES,
    NOT_ACKNOWLEDGED,
    RX_TIMEOUT,
    TX_QUEUE_OVERRUN,
)
from humanoid_twin.robot.control import RobotControl

SILENCE: Final = 0.7  # [s] until silent wrists are detected, and the arms are soft
_OTHER: Final = 99  # an id that no motor has
_KEEPS_TORQUE: Final = "it keeps its torque, which held a load that is gone when the arm sinks"
_REPLUGGED: Final = 0.3  # [s] from one adapter to the next


def wrists(_scene: Scene) -> tuple[str, ...]:
    """Return the wrists, which a broken bus makes unreachable."""
    return CAN_ONLY


def _strangers(scene: Scene) -> None:
    for _ in range(20):
        data = bytes(scene.dice.randrange(256) for _ in range(scene.dice.randrange(9)))
        scene.robot.twin.can_stray(scene.dice.randrange(1 << 11), data, extended=False)


def _other_adapter(scene: Scene) -> None:
    """Replace the adapter at once by one that has no command for its flags."""
    twin = scene.robot.twin
    twin.can_flags(False)
    twin.can_unplug()
    scene.robot.pass_until(twin.time() + _REPLUGGED)
    twin.can_plug_in()


def _first_adapter(scene: Scene) -> None:
    """Demand health with the other adapter, then plug the first one in."""
    try:
        with health_demanded("an adapter without flags"):
            scene.robot.healthy()
    finally:
        scene.robot.twin.can_flags(True)  # when the restart opens it again


def _power_twice(twin: RobotControl, identifier: int) -> None:
    twin.can_power_off(identifier)
    twin.can_power_on(identifier)


# Reasons of a bus that loses or delays frames.
_POOR: Final = (RX_TIMEOUT, TX_QUEUE_OVERRUN, BUS_OFF)
_rare: Final = partial(Kind, outcome=Outcome.EITHER, within=1.0, source=CAN, codes=_POOR)
_noticed: Final = partial(Kind, within=SILENCE, source=CAN)
_bus: Final = partial(_noticed, spared=wrists)
_motor: Final = partial(
    _noticed, joints=CAN_ONLY, flags=SafetyFlag.RX_TIMEOUT, codes=(RX_TIMEOUT,), named=(JOINT,)
)

_FRAMES: Final = (
    rare(_rare, "can: frames lost", RobotControl.can_drop),
    rare(_rare, "can: frames late", lambda twin, chance: twin.can_late(chance, LATE)),
    rare(_rare, "can: frames double", RobotControl.can_double),
    Kind(
        name="can: frames destroyed, up to 100 in a row",
        inject=lambda scene: scene.robot.twin.can_corrupt_next(scene.dice.randint(1, 100)),
        outcome=Outcome.EITHER,
        within=SILENCE,
        spared=wrists,
        source=CAN,
        codes=_POOR,
    ),
    every(
        partial(_bus, flags=SafetyFlag.RX_TIMEOUT),
        "can: all frames lost",
        RobotControl.can_drop,
        RX_TIMEOUT,
    ),
    Kind(name="can: frames of strangers", inject=_strangers, outcome=Outcome.STAYS),
)
_BUS: Final = (
    _bus(
        name="can: bus-off",
        inject=on_twin(RobotControl.can_bus_off),
        flags=SafetyFlag.BUS_OFF,
        codes=(BUS_OFF,),
    ),
    _bus(
        name="can: adapter unplugged",
        inject=on_twin(RobotControl.can_unplug),
        mend=on_twin(RobotControl.can_plug_in),
        flags=SafetyFlag.BUS_OFF | SafetyFlag.RX_TIMEOUT,
        codes=(ADAPTER_GONE,),
    ),
    _bus(
        name="can: adapter unplugged, and one without flags plugged in",
        kernel=True,
        inject=_other_adapter,
        mend=_first_adapter,
        flags=SafetyFlag.BUS_OFF | SafetyFlag.RX_TIMEOUT,
        codes=(ADAPTER_GONE,),
        recovery=Recovery.RESTART,
        alone=True,
    ),
    _bus(
        name="can: motors with another bit rate",
        inject=on_twin(lambda twin: twin.can_bitrate(500_000)),
        mend=on_twin(lambda twin: twin.can_bitrate(1_000_000)),
        codes=(RX_TIMEOUT, BUS_OFF, ERROR_FRAMES, NOT_ACKNOWLEDGED),
    ),
    _noticed(
        name="can: power of all motors lost",
        inject=on_twin(RobotControl.can_power_off),
        mend=on_twin(RobotControl.can_power_on),
        flags=SafetyFlag.RX_TIMEOUT,
        codes=(RX_TIMEOUT,),
    ),
)
_MOTORS: Final = (
    _motor(
        name="can: power of a motor lost",
        inject=motor(RobotControl.can_power_off),
        mend=motor(RobotControl.can_power_on),
    ),
    _motor(name="can: motor reset", inject=motor(_power_twice)),
    _motor(
        name="can: firmware of a motor hangs",
        inject=motor(RobotControl.can_freeze),
        mend=motor(lambda twin, identifier: twin.can_freeze(identifier, False)),
        spared=lambda scene: [scene.joint],
        allowed=(Allowed(Breach.SPEED, 4.0, _KEEPS_TORQUE),),
    ),
    _motor(
        name="can: motor with another id",
        inject=motor(lambda twin, identifier: twin.can_change_id(identifier, _OTHER)),
        mend=motor(lambda twin, identifier: twin.can_change_id(_OTHER, identifier)),
        spared=lambda scene: [scene.joint],
    ),
    _motor(
        name="can: motor hot",
        inject=motor(lambda twin, identifier: twin.can_overheat(identifier, 120.0)),
        mend=motor(lambda twin, identifier: twin.can_overheat(identifier, 25.0)),
    ),
    _motor(
        name="can: motor finds a fault",
        inject=motor(lambda twin, identifier: twin.can_motor_fault(identifier, 4)),
    ),
)

KINDS: Final = (*_FRAMES, *_BUS, *_MOTORS)
