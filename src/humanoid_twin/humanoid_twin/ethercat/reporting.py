"""Gathers what the control channel tells about drives and ring."""

from humanoid_devices_erob.wire import objects
from humanoid_twin.ethercat.dictionary import ObjectDictionary, SdoAbort
from humanoid_twin.ethercat.firmware import Physics
from humanoid_twin.ethercat.losses import Losses
from humanoid_twin.ethercat.report import DriveReport, Statistics
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.ethercat.slave import Slave

_OBJECTS = {
    "statusword": (objects.STATUSWORD, 0),
    "error": (objects.ERROR_CODE, 0),
    "position": (objects.POSITION, 0),
    "velocity": (objects.VELOCITY, 0),
    "torque": (objects.TORQUE, 0),
    "target": (objects.TARGET_POSITION, 0),
    "gate": objects.GATE_SWITCH,
    "pos_reg": objects.POSITION_GAIN,
    "vel_reg": objects.VELOCITY_GAIN,
    "integral": objects.VELOCITY_INTEGRAL,
}


def report_drive(slave: Slave, plant: Physics, joint: int) -> DriveReport:
    """The state of one slave, its drive and its joint. An object that it lacks is 0."""
    dictionary = slave.firmware.dictionary
    raw = {name: _integer(dictionary, *place) for name, place in _OBJECTS.items()}
    return DriveReport(
        al_state=int(slave.al.state),
        al_error=slave.al.error,
        al_status=int(slave.al.code),
        powered=slave.powered,
        statusword=raw["statusword"],
        error=raw["error"],
        position=raw["position"],
        velocity=raw["velocity"],
        torque=raw["torque"],
        target=raw["target"],
        gate=raw["gate"],
        pos_reg=raw["pos_reg"],
        vel_reg=raw["vel_reg"],
        integral=raw["integral"],
        joint_position=float(plant.position[joint]),
        joint_velocity=float(plant.velocity[joint]),
        sync_errors=slave.supervision.errors,
        dc_difference_ns=slave.clock.difference,
        sync0_active=slave.clock.active,
    )


def report_statistics(ring: VirtualRing, losses: Losses) -> Statistics:
    """Counts of frames and requests."""
    return Statistics(
        frames=ring.frames,
        lost_frames=losses.lost,
        process_data_frames=ring.process_data_frames,
        mailbox_requests=[slave.mailbox_requests for slave in ring.line.slaves],
    )


def _integer(dictionary: ObjectDictionary, index: int, subindex: int) -> int:
    try:
        value = dictionary.entry(index, subindex).get()
    except SdoAbort:
        return 0
    return value if isinstance(value, int) else 0
