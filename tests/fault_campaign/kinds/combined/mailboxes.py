"""Mailboxes of drives that hang for a time, or answer slowly, on the stepped robot."""

from __future__ import annotations

from functools import partial
from typing import Final

from humanoid_control_msgs.msg import SdoObject
from humanoid_control_msgs.srv import ReadSdoBatch

from fault_campaign.disturbing.disturbances import slave
from fault_campaign.judging.cause import Cause
from fault_campaign.kinds.kind import JOINT, Kind, Outcome, RefutedError, Scene, struck
from fault_campaign.robot import MAILBOX_DELAY
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import STIFF, Start
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import (
    IMPEDANCE_MANAGER_SILENT,
    IMPEDANCE_NOT_CONFIRMED,
)
from humanoid_devices_erob.ros import READ_SERVICE
from humanoid_twin.robot.control import RobotControl

_NEVER: Final = float("inf")  # [s]
# [s] With a second between two readings of the registers, and the time of the repetition, this is
# less than the 2 s for which a reading is valid.
_SHORT: Final = (0.1, 0.6)
_LONG: Final = (0.6, 4.0)
_FOR_GOOD: Final = 0.3  # share of the mailboxes that hang until the end
_AROUND: Final = 0.3  # [s] limit of the time from a switch to a hanging mailbox, before and after
_CONFIRMED: Final = 1.5  # [s] until the gains of a mode are confirmed
_AFTERWARDS: Final = 1.2  # [s] within which all registers are read again
_SLOW: Final = (0.01, 0.02)  # [s] delay of a slow mailbox
_REGISTERS: Final = ((0x2383, 0), (0x2382, 1), (0x2381, 1), (0x2381, 2), (0x2382, 3))
_BEGUN: Final = 0.3  # [s] from the confirmation until targets lead the joints
_LOOK: Final = 0.02  # [s]
_APART: Final = 100  # [counts]: a following target is one exchange behind its joint
_REPEATED: Final = 2  # readings of the slow drive in one batch of the other program


def _hang(scene: Scene, seconds: float) -> None:
    """Let the mailbox of the drive hang for a time [s], or until the end if that is `_NEVER`."""
    robot = scene.robot
    robot.twin.mailbox_delay(_NEVER, scene.slave)
    if seconds < _NEVER:
        robot.pass_until(robot.twin.time() + seconds)
        robot.twin.mailbox_delay(MAILBOX_DELAY, scene.slave)


def _demand_confirmed(scene: Scene) -> None:
    observer = scene.robot.observer
    if not observer.within(_CONFIRMED, observer.confirmed):
        raise RefutedError("the gains of the mode were not confirmed before")


def _hangs_shortly(scene: Scene) -> None:
    """Let a mailbox hang shortly.
    | Raises RefutedError if the gains of the mode in force do not stay confirmed."""
    robot, observer = scene.robot, scene.robot.observer
    _demand_confirmed(scene)
    number, seconds = observer.now.switch_number, scene.dice.uniform(*_SHORT)
    scene.begins()
    robot.twin.mailbox_delay(_NEVER, scene.slave)

    def lost() -> bool:
        same = observer.now.switch_number == number
        if robot.twin.time() >= scene.began + seconds:
            robot.twin.mailbox_delay(MAILBOX_DELAY, scene.slave)
        return same and not observer.confirmed()

    if observer.within(seconds + _AFTERWARDS, lost):
        state = observer.impedance
        text = "" if state is None else state.status_message
        raise RefutedError(f"a mailbox that hung for {seconds:.2f} s took the gains away: {text}")


def _hangs_long(scene: Scene) -> None:
    forever = scene.dice.random() < _FOR_GOOD
    _hang(scene, _NEVER if forever else scene.dice.uniform(*_LONG))


def _hangs_around_a_switch(scene: Scene) -> None:
    """Let a mailbox hang around a switch: to STANDBY from DAMPING, or to DAMPING."""
    robot, observer = scene.robot, scene.robot.observer
    wanted = Mode.STANDBY if observer.now.mode == Mode.DAMPING else Mode.DAMPING
    after = scene.dice.uniform(-_AROUND, _AROUND)
    if after > 0.0:
        observer.request(wanted)
        robot.pass_until(robot.twin.time() + after)
        _hang(scene, scene.dice.uniform(*_LONG))
        return
    robot.twin.mailbox_delay(_NEVER, scene.slave)
    robot.pass_until(robot.twin.time() - after)
    observer.request(wanted)
    _hang(scene, scene.dice.uniform(*_LONG))


def _slow_guest(scene: Scene) -> None:
    """Read a slow drive in a long batch while the gains of a mode are written.

    Raises RefutedError if that mode is not confirmed, or if the targets follow the joints in it.
    """
    robot, observer = scene.robot, scene.robot.observer
    _demand_confirmed(scene)
    robot.twin.mailbox_delay(scene.dice.uniform(*_SLOW), scene.slave)
    others = [i for i in range(len(robot.joints.of(TargetJoint.RING))) if i != scene.slave]
    slaves = [*others, *[scene.slave] * _REPEATED]
    objects = [
        SdoObject(slave=number, index=index, subindex=subindex)
        for number in slaves
        for index, subindex in _REGISTERS
    ]
    client = observer.node.create_client(ReadSdoBatch, f"/{READ_SERVICE}")
    client.call_async(ReadSdoBatch.Request(objects=objects))
    robot.machine.sleep(scene.dice.uniform(0.0, 0.1))
    observer.request(Mode.STANDBY)
    confirmed = observer.within(
        _CONFIRMED, lambda: observer.now.mode == Mode.STANDBY and observer.confirmed()
    )
    observer.node.destroy_client(client)
    if not confirmed:
        raise RefutedError(f"mode {observer.now.mode}: {observer.now.status_message!r}")
    robot.pass_until(robot.twin.time() + _BEGUN)
    end = robot.twin.time() + _AFTERWARDS
    while robot.twin.time() < end:
        if not any(_pulled(scene, number) for number in others):
            raise RefutedError("STANDBY is confirmed, and the targets of all drives follow")
        robot.pass_until(robot.twin.time() + _LOOK)


def _pulled(scene: Scene, number: int) -> bool:
    """Return True if a stiff drive has a target apart from the position of its joint."""
    drive = scene.robot.twin.drives()[number]
    return drive["pos_reg"] > 0 and abs(drive["target"] - drive["position"]) > _APART


_hangs: Final = partial(
    Kind,
    strikes=TargetJoint.RING,
    mend=slave(lambda twin, number: RobotControl.mailbox_delay(twin, MAILBOX_DELAY, number)),
    outcome=Outcome.EITHER,
    within=1.0,
    undamped=struck,
    follows=True,
    either=(
        Cause(named=(JOINT,)),
        Cause(codes=(IMPEDANCE_NOT_CONFIRMED.name, IMPEDANCE_MANAGER_SILENT.name)),
    ),
    alone=True,
)

KINDS: Final = (
    _hangs(
        name="ring: mailbox of a drive hangs for less than 0.6 s",
        inject=_hangs_shortly,
        outcome=Outcome.STAYS,
        either=(),
        starts=(Start.DAMPING, Start.STANDBY_FINISHED, Start.REMOTE),
    ),
    _hangs(name="ring: mailbox of a drive hangs for 0.6 s or longer", inject=_hangs_long),
    _hangs(
        name="ring: mailbox of a drive hangs around a switch",
        inject=_hangs_around_a_switch,
        starts=(Start.DAMPING, *STIFF),
        requests_modes=True,
    ),
    _hangs(
        name="guest: reads registers slowly while gains are written",
        inject=_slow_guest,
        starts=(Start.DAMPING,),
        requests_modes=True,
    ),
)
