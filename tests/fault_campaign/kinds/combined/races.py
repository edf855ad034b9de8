"""Faults during another procedure, such as a switch or a bring-up, on the stepped robot.

The seed decides the time of the fault in that procedure.
"""

from __future__ import annotations

import math
import signal
from typing import Any, Final

from humanoid_control_msgs.msg import SdoObject
from humanoid_control_msgs.srv import WriteSdoBatch
from std_msgs.msg import String

from fault_campaign.disturbing.disturbances import on_twin
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.can import SILENCE, unreachable
from fault_campaign.kinds.causes import HELD_UP, UNCONFIRMED
from fault_campaign.kinds.combined.exits import simulated
from fault_campaign.kinds.kind import (
    Allowed,
    Kind,
    Outcome,
    Recovery,
    RefutedError,
    RequiredRecord,
    Scene,
    every_joint,
    struck,
)
from fault_campaign.kinds.processes import IMPEDANCE
from fault_campaign.programs import GIVE_UP
from fault_campaign.robot import MAIN
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import STIFF, Start
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_controller_manager.reason_codes import CONTROLLER_FAILED
from humanoid_devices_can.reason_codes import GUARD_NOT_DONE, MOTORS_NOT_ENABLED
from humanoid_devices_erob.reason_codes import DRIVE_ERRORS, NO_FRAME_RETURNS, WORKING_COUNTER_LOW
from humanoid_devices_erob.ros import WRITE_SERVICE

_TOLD: Final = 1.5  # [s] until a mode that was requested is stated
_ANSWERED: Final = 2.0  # [s] until clear_fault has its answer
_OPENS: Final = 0.03  # [s] after the answer within which a CAN bus is opened
_ENABLES: Final = 1.0  # [s] longest time of a motor to enable, by the documents
_OBEYED: Final = 0.6  # [s] after SIGTERM from which no component enables a motor
_WRITES: Final = 0.06  # [s] from a request until the gains of the mode are written
_USUAL, _SLOW = 0.002, (0.12, 0.4)  # [s] delay of a mailbox; a slow one exceeds the timeout
_STANDS_STILL: Final = (0.3, 0.6)  # [s] longer than guard_timeout
_LOSSY: Final = (0.3, 0.8)  # share of the frames
_INTEGRAL: Final = 0x2381, 2  # 0 in every mode
_GUEST_WRITES, _GUEST_PERIOD = 0.3, 0.02  # [s]
_PUBLISHER: Final = "publisher"  # the thread of the control process
_NOT_ACTIVE: Final = "not active"  # error of the campaign's DAMPING: wrong order of calls
_FALLS: Final = "without DAMPING an arm that still sinks falls"


def _later(scene: Scene, most: float) -> None:
    """Let a random time of at most `most` [s] pass."""
    scene.robot.machine.sleep(scene.dice.uniform(0.0, most))


def _bus_opens(scene: Scene) -> None:
    """Put the CAN bus off, open it again by clear_fault, and wait for a random part of that."""
    robot = scene.robot
    scene.can.can_bus_off()
    robot.pass_until(robot.twin.time() + SILENCE)
    robot.observer.try_to_clear(_ANSWERED)
    _later(scene, _OPENS)


def _guard_finds_it_occupied(scene: Scene) -> None:
    """Stop the control process while another program occupies the adapter, then try resets.

    The guard cannot disable its motors, and no reset can open the bus.
    """
    robot = scene.robot
    _occupied(scene, True)
    robot.control.send(signal.SIGSTOP)
    robot.pass_until(robot.twin.time() + scene.dice.uniform(*_STANDS_STILL))
    robot.control.send(signal.SIGCONT)
    observer = robot.observer

    def reported(code: ReasonCode) -> bool:
        return any(code.name in it.reason_codes for it in observer.safety)

    def failed() -> bool:
        observer.try_to_clear(_ANSWERED)  # has no effect before the fall
        return reported(MOTORS_NOT_ENABLED)

    if not observer.within(_TOLD, lambda: reported(GUARD_NOT_DONE)):
        raise RefutedError("nothing reports that the guard cannot disable its motors")
    if not observer.within(_TOLD, failed):
        raise RefutedError("nothing reports that the motors are not enabled again")


def _occupied(scene: Scene, value: bool) -> None:
    simulated(scene).stepped.virtual.adapters[scene.bus].occupied = value


def _terminated(scene: Scene) -> None:
    """End the control process while a bus opens.
    | Raises RefutedError if a motor is enabled after SIGTERM."""
    robot = scene.robot
    for motor in scene.can.can_drives():
        scene.can.can_delay_enable(motor, _ENABLES)
    _bus_opens(scene)
    scene.begins()
    robot.control.send(signal.SIGTERM)
    robot.pass_until(robot.twin.time() + _OBEYED)
    disabled = [it for it, motor in scene.can.can_drives().items() if not _enabled(motor)]

    def enabled() -> bool:
        motors = scene.can.can_drives()
        return any(_enabled(motors[it]) for it in disabled)

    if robot.observer.within(GIVE_UP, lambda: enabled() or not robot.control.runs) and enabled():
        raise RefutedError(f"a motor is enabled more than {_OBEYED:g} s after SIGTERM")


def enables_at_once(scene: Scene) -> None:
    """Remove the delay with which the motors on the bus that is struck enable."""
    for motor in scene.can.can_drives():
        scene.can.can_delay_enable(motor, 0.0)


def _enabled(motor: Any) -> bool:
    return bool(motor["firmware"]["enabled"])


def _killed_while_it_writes(scene: Scene) -> None:
    """Slow a mailbox down while gains are written, and kill the impedance manager."""
    robot, observer = scene.robot, scene.robot.observer
    observer.request(Mode.STANDBY)
    _later(scene, _WRITES)
    robot.twin.mailbox_delay(scene.dice.uniform(*_SLOW), scene.slave)
    _later(scene, _WRITES)
    robot.programs[IMPEDANCE].send(signal.SIGKILL)


def _lossy_while_it_writes(scene: Scene) -> None:
    """Lose frames while stiff gains are written, and request DAMPING again."""
    robot = scene.robot
    robot.observer.request(Mode.STANDBY)
    robot.twin.drop(scene.dice.uniform(*_LOSSY))
    _later(scene, _WRITES)
    robot.observer.request(Mode.DAMPING)


def _write_unseen(scene: Scene) -> None:
    """Stop the joint states while a program writes with a permission that has no end."""
    robot, observer = simulated(scene), scene.robot.observer
    robot.hold_thread(MAIN, _PUBLISHER, _GUEST_WRITES)
    client = observer.node.create_client(WriteSdoBatch, f"/{WRITE_SERVICE}")
    index, subindex = _INTEGRAL
    written = [SdoObject(slave=scene.slave, index=index, subindex=subindex, data=bytes(4))]
    while robot.twin.time() < scene.began + _GUEST_WRITES:
        now = observer.now
        client.call_async(
            WriteSdoBatch.Request(
                mode=now.mode,
                switch_number=now.switch_number,
                valid_until=math.inf,
                objects=written,
            )
        )
        robot.pass_until(robot.twin.time() + _GUEST_PERIOD)
    observer.node.destroy_client(client)


def _quick_again(scene: Scene) -> None:
    scene.robot.twin.mailbox_delay(_USUAL, scene.slave)
    scene.robot.programs[IMPEDANCE].start()


def _standby_at_once(scene: Scene) -> None:
    """Request the next mode when a mode is stated. Raises RefutedError if it is refused."""
    observer = scene.robot.observer
    observer.request(Mode.DAMPING)
    damped = observer.within(_TOLD, lambda: observer.now.mode == Mode.DAMPING)
    observer.request(Mode.STANDBY)
    if not (damped and observer.within(_TOLD, lambda: observer.now.mode == Mode.STANDBY)):
        raise RefutedError(f"mode {observer.now.mode}: {observer.now.status_message!r}")


def _damping_raises(scene: Scene) -> None:
    """Let DAMPING raise.
    | Raises RefutedError unless the fallback of DAMPING is in force then."""
    observer = scene.robot.observer
    observer.damping_orders.publish(String(data="raise"))
    if not observer.within(_TOLD, lambda: FELL_TO_SAFETY.name in observer.now.reason_codes):
        raise RefutedError("DAMPING raises, and no fall is stated")
    if observer.now.mode != Mode.ZERO_TORQUE or _NOT_ACTIVE in observer.now.status_message:
        raise RefutedError(f"mode {observer.now.mode}: {observer.now.status_message!r}")


KINDS: Final = (
    Kind(
        name="ring: frames lost while gains are written",
        inject=_lossy_while_it_writes,
        mend=on_twin(lambda twin: twin.drop(0.0)),
        strikes=TargetJoint.RING,
        starts=(Start.DAMPING,),
        outcome=Outcome.EITHER,
        within=1.0,
        heals=1.5,  # lost mail is waited for, and interrupted threads take longer
        follows=True,
        codes=(WORKING_COUNTER_LOW, NO_FRAME_RETURNS, DRIVE_ERRORS[0xA000], *UNCONFIRMED),
        requests_modes=True,
        alone=True,
    ),
    Kind(
        name="guest: writes a register while no joint states are published",
        inject=_write_unseen,
        strikes=TargetJoint.RING,
        outcome=Outcome.EITHER,
        within=1.0,
        codes=UNCONFIRMED,
        alone=True,
    ),
    Kind(
        name="controller: DAMPING raises",
        inject=_damping_raises,
        # While the fall is latched DAMPING is refused.
        mend=lambda scene: scene.robot.observer.try_to_clear(_ANSWERED),
        starts=(Start.DAMPING,),
        outcome=Outcome.EITHER,
        codes=(CONTROLLER_FAILED,),
        raises="OrderedFailure: failed as ordered",
        requests_modes=True,
        allowed=(
            Allowed(ViolationType.SPEED, 5.5, _FALLS),
            Allowed(ViolationType.JUMP, 0.1, _FALLS),
        ),
        alone=True,
    ),
    Kind(
        name="can: adapter occupied when the guard acts",
        inject=_guard_finds_it_occupied,
        mend=lambda scene: _occupied(scene, False),
        strikes=TargetJoint.GUARDED,
        within=SILENCE,
        spared=unreachable,
        undamped=every_joint,
        codes=(GUARD_NOT_DONE, *HELD_UP),
        alone=True,
    ),
    Kind(
        name="process: control terminated while the CAN bus is opened again",
        inject=_terminated,
        mend=enables_at_once,
        strikes=TargetJoint.CAN,
        outcome=Outcome.OFF,
        within=2.5,
        spared=unreachable,
        recovery=Recovery.RESTART,
        filed=RequiredRecord.NOTHING,
        dies=(MAIN,),
        alone=True,
    ),
    Kind(
        name="process: impedance manager killed while it writes to a slow drive",
        inject=_killed_while_it_writes,
        mend=_quick_again,
        strikes=TargetJoint.RING,
        starts=(Start.DAMPING,),
        within=2.5,
        codes=UNCONFIRMED,
        undamped=struck,
        dies=(IMPEDANCE,),
        alone=True,
    ),
    Kind(
        name="operator: requests STANDBY when DAMPING is stated",
        inject=_standby_at_once,
        starts=STIFF,
        outcome=Outcome.EITHER,
        codes=UNCONFIRMED,
        requests_modes=True,
        alone=True,
    ),
)
