"""Both buses on one body, without a process: mountings, and repeatable runs."""

from collections.abc import Sequence

import numpy as np
import pytest
from test_support.twin.prime_actuators import CAN_JOINTS, JOINTS, PRIME, RING_JOINTS, ROTORS

from humanoid_devices_sito.codec import Command, ControlMode, Gains, MessageType, SelectMode
from humanoid_devices_sito.codec import identifier as sito_identifier
from humanoid_twin.assumptions import Assumptions
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.ethercat.firmware import AlState
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.mounting import Mounting
from humanoid_twin.physics.mujoco_plant import MujocoPlant
from humanoid_twin.physics.recorder import Recorder, Recording
from humanoid_twin.robot.actuators import RingActuator
from humanoid_twin.robot.main import build_drives, build_motors, build_ring
from humanoid_twin.scheduler import Scheduler

MILLISECOND = 1_000_000  # [ns]
KP, KD = 20.0, 2.0  # [Nm/rad], [Nm s/rad] of STANDBY
# 51.47 kp/kd and kd/0.1063 (actuator documents); at 0.7 of the torque the drives realize 0.7 of it.
POSITION_GAIN, VELOCITY_GAIN = 515, 19


class Prime:
    """The whole robot; commands come without frames on the ring and by frames on the CAN bus."""

    def __init__(
        self,
        urdf: str,
        mountings: dict[str, Mounting],
        ring: Sequence[RingActuator] = PRIME.ring,
    ) -> None:
        self.plant, self.simulated_time = MujocoPlant(urdf, ROTORS), SimulatedTime()
        self.world = Scheduler(self.plant, self.simulated_time)
        self.drives = build_drives(self.plant, ring, mountings)
        rows = PRIME.can["can"]
        self.wrists = build_motors(self.plant, JOINTS, rows, mountings, self.simulated_time)
        self.world.add(VirtualRing(self.drives, self.simulated_time))
        self.world.add(self.wrists)
        self.host = self.wrists.bus.attach(lambda _frame, _now: None, queue_length=1000)
        self.recorder = Recorder(self.plant, JOINTS)
        self.world.on_step = self.recorder.stepped

    def wait(self, milliseconds: int) -> None:
        self.world.advance(self.world.now + milliseconds * MILLISECOND)

    def send(self, device: int, kind: MessageType, payload: bytes) -> None:
        frame = CanFrame(sito_identifier(device, kind), payload)
        assert self.host.send(frame, self.simulated_time.now)

    def enable(self) -> None:
        """Enable all fourteen joints with the gains of STANDBY, each at its position."""
        for drive in self.drives:
            drive.al_state_changed(AlState.OP)
            drive.gains.gate = 1
            drive.gains.write("position", POSITION_GAIN)
            drive.gains.write("velocity", VELOCITY_GAIN)
            drive.gains.write("integral", 0)
            for word in (0x06, 0x07, 0x0F):
                drive.controlword = word
            drive.target = drive.position
        for device in CAN_JOINTS:
            self.send(device, MessageType.GAINS, Gains(KP / 688.58, KD / 1.125).encode())
            mode = SelectMode(ControlMode.MIT, 5, 5, 0)
            self.send(device, MessageType.SELECT_MODE, mode.encode())
        self.wait(10)

    def aim(self, shift: float) -> None:
        """Set all targets `shift` [rad] away from the drives' positions."""
        for drive in self.drives:
            drive.target = drive.position + round(shift * 524288 / 6.283185307)
        for device in CAN_JOINTS:
            position = self.wrists.motor(device).report()["position"]
            counts = round((position + shift) * 65536 / 6.283185307)
            self.send(device, MessageType.COMMAND, Command(0, 0, counts).encode())


def motion(urdf: str) -> Recording:
    robot = Prime(urdf, {"left_elbow_pitch": Mounting(-1, 0.7)})
    robot.enable()
    robot.recorder.start(300)
    robot.aim(0.2)
    robot.wait(300)
    return robot.recorder.recording()


def test_the_whole_robot_repeats_exactly(prime_urdf):
    first, second = motion(prime_urdf), motion(prime_urdf)
    assert first.time.shape == (300,)
    for name in ("position", "velocity", "torque"):
        assert (getattr(first, name) == getattr(second, name)).all()
    assert np.abs(first.velocity).max(axis=0).min() > 0.1  # every joint has moved


def test_every_drive_tells_its_own_serial_number(prime_urdf):
    plant = MujocoPlant(prime_urdf, ROTORS)
    ring, _ = build_ring(plant, PRIME.ring, {}, SimulatedTime(), Assumptions())
    wanted = [row.serial_number for row in PRIME.ring]
    objects = [slave.firmware.dictionary.entry(0x1018, 4) for slave in ring.slaves]
    assert [it.get() for it in objects] == wanted
    # Words 0x0E and 0x0F of the EEPROM (ETG.2010).
    contents = [slave.eeprom.content[0x1C:0x20] for slave in ring.slaves]
    assert [int.from_bytes(it, "little") for it in contents] == wanted
    assert len(set(wanted)) == len(wanted)


def test_a_joint_turned_by_a_reversed_drive_goes_the_other_way(prime_urdf):
    found = motion(prime_urdf)
    end = dict(zip(JOINTS, found.position[-1], strict=True))
    assert end["left_elbow_pitch"] < -0.05 < 0.05 < end["right_elbow_pitch"]


def test_the_same_error_gives_the_same_torque_on_both_buses(prime_urdf):
    """The transmission of the eRobs reduces this to 0.7 (load tests on Prime).

    A drive whose torque constant and gear are not those of its registers has another torque.
    """
    other = {"torque_constant": 0.66e-4, "gear": 80.0}  # 0.8 of the others
    ring = [
        row.model_copy(update=other if row.joint == "left_elbow_pitch" else {})
        for row in PRIME.ring
    ]
    robot = Prime(prime_urdf, {}, ring)
    robot.enable()
    robot.aim(0.1)
    for joint in range(len(JOINTS)):
        robot.plant.set_brake(joint, engaged=True)
    robot.wait(200)
    torque = dict(zip(JOINTS, robot.plant.torque, strict=True))
    error = 0.1 - robot.plant.position
    for index, name in enumerate(JOINTS):
        part = 0.7 if name in RING_JOINTS else 1.0
        part *= 0.8 if name == "left_elbow_pitch" else 1.0
        assert torque[name] == pytest.approx(part * KP * error[index], rel=0.02)
