"""What the control channel tells about drives and ring."""

from typing import TypedDict


class DriveReport(TypedDict):
    """One drive. Raw values are as in its objects, the joint's are those of the plant."""

    al_state: int
    al_error: bool
    al_status: int  # AL status code
    powered: bool
    statusword: int
    error: int  # 0x603F
    position: int  # [counts]
    velocity: int  # [counts/s]
    torque: int  # as in 0x6077
    target: int  # [counts]
    gate: int
    pos_reg: int
    vel_reg: int
    integral: int
    joint_position: float  # [rad]
    joint_velocity: float  # [rad/s]
    sync_errors: int
    dc_difference_ns: int
    sync0_active: bool


class Statistics(TypedDict):
    """Counts since the ring was started; lists are in ring order."""

    frames: int
    lost_frames: int
    process_data_frames: int
    mailbox_requests: list[int]
