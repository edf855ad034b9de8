"""The trials that find former defects again on the stepped robot, if their mends are reverted."""

from __future__ import annotations

from typing import Final, NamedTuple

from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.catalogue import kinds_of
from fault_campaign.kinds.kind import Kind
from fault_campaign.robot_joints import RobotJoints
from humanoid_bringup.robot_package import DEFAULT


class Found(NamedTuple):
    """The trial that finds a defect."""

    mend: str
    kind: str
    seed: int
    type: ViolationType
    robot: str = DEFAULT

    @property
    def fault(self) -> Kind:
        """Return the kind on this robot."""
        return kinds_of(RobotJoints.of_robot(self.robot), stepped=True)[self.kind]


FOUND: Final = (
    Found(
        "permission_asked_once",
        "ring: frames lost while gains are written",
        1879062189,
        ViolationType.SDO_WRITE,
    ),
    Found(
        "gate_in_the_clients",
        "guest: writes a register while no joint states are published",
        1320253731,
        ViolationType.SDO_WRITE,
    ),
    Found(
        "old_register_believed",
        "process: impedance manager killed while it writes to a slow drive",
        1361837935,
        ViolationType.NEVER_SOFT,
    ),
    Found("callback_error_raised", "controller: a callback raises", 87783753, ViolationType.DIED),
    Found("report_while_preparing", "command: huge damping", 566430430, ViolationType.DIED),
    Found(
        "only_one_session_cancelled",
        "process: control terminated while the CAN bus is opened again",
        1662574638,
        ViolationType.REFUTED,
    ),
    Found(
        "only_one_session_cancelled",
        "process: control terminated while the CAN bus is opened again",
        2028277857,
        ViolationType.REFUTED,
        "lite",
    ),
    Found("falls_back_to_itself", "controller: DAMPING raises", 1502316763, ViolationType.REFUTED),
    Found(
        "early_request_refused",
        "operator: requests STANDBY when DAMPING is stated",
        1936541590,
        ViolationType.REFUTED,
    ),
    Found(
        "links_not_kept_apart",
        "command: links driven into each other",
        1999834075,
        ViolationType.CONTACT,
    ),
    Found(
        "stops_at_once",
        "command: trajectories replaced, stopped and refused",
        673671309,
        ViolationType.REFUTED,
    ),
    Found(
        "edited_motion_sent",
        "command: motions played, edited, and their programs killed",
        489166334,
        ViolationType.REFUTED,
    ),
    Found(
        "any_payload_held",
        "command: payloads that are not there",
        727104395,
        ViolationType.REFUTED,
    ),
    Found(
        "reading_forgets",
        "ring: mailbox of a drive hangs for less than 0.6 s",
        1055783379,
        ViolationType.REFUTED,
    ),
    Found(
        "slow_batch_replaces",
        "guest: reads registers slowly while gains are written",
        114774930,
        ViolationType.REFUTED,
    ),
    Found(
        "silence_before_counts",
        "exit: cable of a motor cut",
        62716026,
        ViolationType.REFUTED,
    ),
    Found(
        "silence_before_counts",
        "can: cable of a motor cut in the bring-up",
        1204642610,
        ViolationType.REFUTED,
    ),
    Found(
        "old_feedback_counts",
        "can: adapter held up while motors are enabled again",
        1011959064,
        ViolationType.REFUTED,
    ),
    Found(
        "silent_adapter_counts",
        "exit: adapter held up",
        10420246,
        ViolationType.REFUTED,
    ),
    Found(
        "errors_not_asked",
        "exit: cable of the CAN bus cut",
        996097414,
        ViolationType.REFUTED,
    ),
    Found(
        "left_to_a_dead_guard",
        "exit: guard killed, and adapter unplugged for a while",
        1539898300,
        ViolationType.REFUTED,
    ),
    Found(
        "rest_of_a_write_lost",
        "exit: serial line slow",
        222708024,
        ViolationType.REFUTED,
    ),
    Found(
        "silent_before_the_guard",
        "can: cable of a motor cut around a standstill of control",
        462454818,
        ViolationType.REFUTED,
    ),
    Found(
        "no_new_guard",
        "can: faults cleared after the guard has acted, then control killed",
        1461516107,
        ViolationType.NEVER_SOFT,
    ),
    Found(
        "exit_dismisses_the_guard",
        "exit: adapter unplugged for a while",
        693034512,
        ViolationType.REFUTED,
    ),
    Found(
        "held_without_server",
        "joint stream: server killed before the first update",
        1466641897,
        ViolationType.NEVER_SOFT,
    ),
    Found(
        "old_command_executed",
        "joint stream: second client takes over",
        1854157030,
        ViolationType.REFUTED,
    ),
    Found(
        "lease_over_a_stream",
        "joint stream: second client takes over",
        1554912672,
        ViolationType.REFUTED,
    ),
    Found(
        "cleared_fault_ends",
        "joint stream: a joint beyond the velocity limit",
        433039363,
        ViolationType.REFUTED,
    ),
    Found(
        "old_gains_enabled",
        "ring: cable cut behind a slave",
        1988180716,
        ViolationType.SOFT_TOO_LATE,
    ),
    Found(
        "limp_left_alone",
        "two faults: process and any",
        869012443,
        ViolationType.NOT_DAMPED,
    ),
    Found(
        "diagnosis_notes_silence",
        "two faults: controller and any",
        1828058853,
        ViolationType.DIED,
    ),
)
