"""What can go wrong on the EtherCAT ring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from faults.kind import RING, RING_ONLY, Kind, Outcome, Recovery, Scene
from faults.situation import STIFF
from humanoid_control_common.safety import SafetyFlag
from humanoid_twin.prime import RING_JOINTS
from humanoid_twin.robot.control import RobotControl

LOST: Final = "no frame comes back in time"
NOT_ALL: Final = "working counter is too low"
WATCHDOG: Final = 0.1  # [s] of process data, stated in docs/safety.md
_DRIVE_ERRORS: Final = (0xA000, 0x8500, 0x8400, 0x8130)
Disturb = Callable[[RobotControl, float], None]


def _some(low: float, high: float, disturb: Disturb) -> Callable[[Scene], None]:
    """Disturb with a random probability."""
    return lambda scene: disturb(scene.robot.twin, scene.dice.uniform(low, high))


def _never(disturb: Disturb) -> Callable[[Scene], None]:
    return lambda scene: disturb(scene.robot.twin, 0.0)


def _lose(twin: RobotControl, probability: float) -> None:
    twin.drop(probability)


def _late(twin: RobotControl, probability: float) -> None:
    twin.late(probability, 0.03)


def _double(twin: RobotControl, probability: float) -> None:
    twin.double(probability)


def _overtake(twin: RobotControl, probability: float) -> None:
    twin.overtake(probability)


def _damage(twin: RobotControl, probability: float) -> None:
    twin.damage(probability)


def _miscount(twin: RobotControl, probability: float) -> None:
    twin.miscount(probability)


def _behind(scene: Scene) -> Sequence[str]:
    """Joints of the slaves that frames don't reach any more."""
    return RING_JOINTS[scene.slave :]


def _mailbox(seconds: float) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.twin.mailbox_delay(seconds, scene.slave)


def _frames() -> list[Kind]:
    """Frames that don't come as they should."""
    kinds = []
    for name, disturb in (
        ("lost", _lose),
        ("late", _late),
        ("double", _double),
        ("out of order", _overtake),
        ("damaged", _damage),
        ("miscounted", _miscount),
    ):
        rare = Kind(
            name=f"ring: frames {name}, 1 to 50 %",
            inject=_some(0.01, 0.5, disturb),
            mend=_never(disturb),
            outcome=Outcome.EITHER,
            within=1.0,
            follows=True,
        )
        kinds.append(rare)
    for name, disturb, said in (
        ("lost", _lose, LOST),
        ("late", _late, LOST),
        ("damaged", _damage, LOST),
        ("miscounted", _miscount, NOT_ALL),
    ):
        every = Kind(
            name=f"ring: all frames {name}",
            inject=_some(1.0, 1.0, disturb),
            mend=_never(disturb),
            source=RING,
            said=said,
            follows=True,
            within=0.5,
        )
        kinds.append(every)
    return kinds


def _slaves() -> list[Kind]:
    """Slaves that go away."""
    return [
        Kind(
            name="ring: slave reset",
            inject=lambda scene: scene.robot.twin.power_cycle(scene.slave),
            joints=RING_ONLY,
            source=RING,
            said="{joint}",
            recovery=Recovery.RESTART,
        ),
        Kind(
            name="ring: slave gone",
            inject=lambda scene: scene.robot.twin.power_off(scene.slave),
            mend=lambda scene: scene.robot.twin.power_on(scene.slave),
            joints=RING_ONLY,
            source=RING,
            said=f"{NOT_ALL}|{LOST}",
            recovery=Recovery.RESTART,
        ),
        Kind(
            name="ring: cable cut behind a slave",
            inject=lambda scene: scene.robot.twin.cut(scene.slave - 1),
            mend=lambda scene: scene.robot.twin.mend(),
            joints=RING_ONLY,
            source=RING,
            said=f"{NOT_ALL}|{LOST}",
            quick=True,
        ),
        Kind(
            name="ring: clock of a slave stops",
            inject=lambda scene: scene.robot.twin.dc_off(scene.slave),
            joints=RING_ONLY,
            source=RING,
            flags=SafetyFlag.MOTOR_FAULT,
            said="{joint}.*0xA000",
            recovery=Recovery.RESTART,
        ),
        Kind(
            name="ring: firmware of a drive hangs",
            inject=lambda scene: scene.robot.twin.freeze_firmware(scene.slave),
            mend=lambda scene: scene.robot.twin.freeze_firmware(scene.slave, False),
            joints=RING_ONLY,
            outcome=Outcome.EITHER,
            spared=lambda scene: [scene.joint],
        ),
    ]


def _drives() -> list[Kind]:
    """Drives with something to say."""
    kinds = [
        Kind(
            name=f"ring: drive error 0x{code:04X}",
            inject=partial(_drive_error, code=code),
            joints=RING_ONLY,
            source=RING,
            flags=SafetyFlag.MOTOR_FAULT,
            said="{joint}.*" + f"0x{code:04X}",
            quick=code == _DRIVE_ERRORS[1],
        )
        for code in _DRIVE_ERRORS
    ]
    return [
        *kinds,
        Kind(
            name="ring: emergency message without an error",
            inject=lambda scene: scene.robot.twin.emergency(scene.slave, 0x8130),
            joints=RING_ONLY,
            outcome=Outcome.STAYS,
        ),
        Kind(
            name="ring: mailbox of a drive silent",
            inject=_mailbox(float("inf")),
            mend=_mailbox(0.002),
            joints=RING_ONLY,
            starts=STIFF,
            outcome=Outcome.EITHER,
            follows=True,
            within=1.0,
        ),
    ]


def _drive_error(scene: Scene, code: int) -> None:
    scene.robot.twin.drive_error(scene.slave, code)


KINDS: Final = (*_frames(), *_slaves(), *_drives())
