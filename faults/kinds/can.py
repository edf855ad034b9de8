"""What can go wrong on the CAN bus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from faults.kind import CAN, CAN_ONLY, Kind, Outcome, Scene
from humanoid_control_common.safety import SafetyFlag
from humanoid_twin.robot.control import RobotControl

SILENCE: Final = 0.7  # [s] until wrists that don't answer are known to, and the arms are soft
Disturb = Callable[[RobotControl, float], None]


def _some(low: float, high: float, disturb: Disturb) -> Callable[[Scene], None]:
    """Disturb with a random probability."""
    return lambda scene: disturb(scene.robot.twin, scene.dice.uniform(low, high))


def _never(disturb: Disturb) -> Callable[[Scene], None]:
    return lambda scene: disturb(scene.robot.twin, 0.0)


def _lose(twin: RobotControl, probability: float) -> None:
    twin.can_drop(probability)


def _late(twin: RobotControl, probability: float) -> None:
    twin.can_late(probability, 0.03)


def _double(twin: RobotControl, probability: float) -> None:
    twin.can_double(probability)


def _struck(scene: Scene) -> list[str]:
    return [scene.joint]


def _wrists(_scene: Scene) -> tuple[str, ...]:
    """Nobody can reach them."""
    return CAN_ONLY


def _off_and_on(scene: Scene) -> None:
    scene.robot.twin.can_power_off(scene.motor)
    scene.robot.twin.can_power_on(scene.motor)


def _frames() -> list[Kind]:
    """Frames that don't come as they should."""
    kinds = [
        Kind(
            name=f"can: frames {name}, 1 to 50 %",
            inject=_some(0.01, 0.5, disturb),
            mend=_never(disturb),
            outcome=Outcome.EITHER,
            within=1.0,
        )
        for name, disturb in (("lost", _lose), ("late", _late), ("double", _double))
    ]
    return [
        *kinds,
        Kind(
            name="can: frames destroyed, up to 100 in a row",
            inject=lambda scene: scene.robot.twin.can_corrupt_next(scene.dice.randint(1, 100)),
            outcome=Outcome.EITHER,
            within=SILENCE,
            spared=_wrists,
        ),
        Kind(
            name="can: all frames lost",
            inject=_some(1.0, 1.0, _lose),
            mend=_never(_lose),
            within=SILENCE,
            source=CAN,
            flags=SafetyFlag.RX_TIMEOUT,
            said="silent",
            spared=_wrists,
        ),
        Kind(
            name="can: frames of strangers",
            inject=_strangers,
            outcome=Outcome.STAYS,
        ),
    ]


def _strangers(scene: Scene) -> None:
    for _ in range(20):
        data = bytes(scene.dice.randrange(256) for _ in range(scene.dice.randrange(9)))
        scene.robot.twin.can_stray(scene.dice.randrange(1 << 11), data, extended=False)


def _bus() -> list[Kind]:
    """The bus and its adapter."""
    return [
        Kind(
            name="can: bus-off",
            inject=lambda scene: scene.robot.twin.can_bus_off(),
            within=SILENCE,
            source=CAN,
            flags=SafetyFlag.BUS_OFF,
            said="bus-off",
            spared=_wrists,
        ),
        Kind(
            name="can: adapter unplugged",
            inject=lambda scene: scene.robot.twin.can_unplug(),
            mend=lambda scene: scene.robot.twin.can_plug_in(),
            within=SILENCE,
            source=CAN,
            flags=SafetyFlag.BUS_OFF | SafetyFlag.RX_TIMEOUT,
            said="the adapter is gone",
            spared=_wrists,
            quick=True,
        ),
        Kind(
            name="can: motors with another bit rate",
            inject=lambda scene: scene.robot.twin.can_bitrate(500_000),
            mend=lambda scene: scene.robot.twin.can_bitrate(1_000_000),
            within=SILENCE,
            source=CAN,
            said="bitrate|silent|bus-off",
            spared=_wrists,
        ),
        Kind(
            name="can: power of all motors lost",
            inject=lambda scene: scene.robot.twin.can_power_off(),
            mend=lambda scene: scene.robot.twin.can_power_on(),
            within=SILENCE,
            source=CAN,
            flags=SafetyFlag.RX_TIMEOUT,
            said="silent",
        ),
    ]


def _motors() -> list[Kind]:
    """One motor."""
    return [
        Kind(
            name="can: power of a motor lost",
            inject=lambda scene: scene.robot.twin.can_power_off(scene.motor),
            mend=lambda scene: scene.robot.twin.can_power_on(scene.motor),
            joints=CAN_ONLY,
            within=SILENCE,
            source=CAN,
            flags=SafetyFlag.RX_TIMEOUT,
            said="{joint}.*silent",
        ),
        Kind(
            name="can: motor reset",
            inject=_off_and_on,
            joints=CAN_ONLY,
            within=SILENCE,
            source=CAN,
            flags=SafetyFlag.RX_TIMEOUT,
            said="{joint}.*silent",
        ),
        Kind(
            name="can: firmware of a motor hangs",
            inject=lambda scene: scene.robot.twin.can_freeze(scene.motor),
            mend=lambda scene: scene.robot.twin.can_freeze(scene.motor, False),
            joints=CAN_ONLY,
            within=SILENCE,
            source=CAN,
            flags=SafetyFlag.RX_TIMEOUT,
            said="{joint}.*silent",
            spared=_struck,
        ),
        Kind(
            name="can: motor hot",
            inject=lambda scene: scene.robot.twin.can_overheat(scene.motor, 120.0),
            mend=lambda scene: scene.robot.twin.can_overheat(scene.motor, 25.0),
            joints=CAN_ONLY,
            within=SILENCE,
            source=CAN,
            flags=SafetyFlag.RX_TIMEOUT,
            said="{joint}.*silent",
            quick=True,
        ),
        Kind(
            name="can: motor finds a fault",
            inject=lambda scene: scene.robot.twin.can_motor_fault(scene.motor, 4),
            joints=CAN_ONLY,
            within=SILENCE,
            source=CAN,
            flags=SafetyFlag.RX_TIMEOUT,
            said="{joint}.*silent",
        ),
    ]


KINDS: Final = (*_frames(), *_bus(), *_motors())
