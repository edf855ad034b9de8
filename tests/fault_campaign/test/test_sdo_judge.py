"""The judge of SDO writes at its bounds, with frames and messages as on the buses."""

from __future__ import annotations

from pathlib import Path

import pytest
from fault_campaign.stepped.sdo_judge import LIMIT, SdoJudge
from humanoid_control_msgs.msg import ControlMode
from sensor_msgs.msg import JointState
from test_support.twin.prime_actuators import RING_JOINTS

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.protocol.coe import ExpeditedDownload, UploadRequest
from humanoid_devices_erob.protocol.frame import Command, Datagram, encode_frame, physical
from humanoid_devices_erob.protocol.mailbox import encode_mailbox
from humanoid_stepped.robot import SteppedRobot
from humanoid_stepped.stepped_machine import EPOCH
from humanoid_twin.erob.erob_drive import ErobDrive
from humanoid_twin.ethercat.esc.al import Al
from humanoid_twin.ethercat.firmware import AlState

POSITION_GAIN, GATE = (0x2382, 1), (0x2383, 0)
ENABLED, DISABLED = 0x1237, 0x1231
STATION, MAILBOX = 0x1001, 0x1000
SLAVE = 3
TICK = 0.001  # [s]


class JudgeBench:
    """A robot without running programs, and its judge."""

    def __init__(self, folder: Path) -> None:
        self.robot = SteppedRobot(1, folder)
        self.judge = SdoJudge(self.robot)
        assert self.robot.virtual.ring is not None
        self.slave = self.robot.virtual.ring.slaves[SLAVE]
        drive = self.robot.virtual._drives[RING_JOINTS[SLAVE]]
        assert isinstance(drive, ErobDrive)
        self.drive = drive
        self.state, self.status = AlState.OP, ENABLED  # of the slave when it receives mail
        self.state_mode(Mode.STANDBY)

    def pass_time(self, seconds: float) -> None:
        self.robot.scheduler.run_for(seconds)

    def publish_joint_states(self, *, age: float = 0.0, position: float = 0.0) -> None:
        message = JointState(position=[position] * 14)
        now = self.robot.scheduler.now + EPOCH + self.robot.scheduler.system_offset
        now -= round(age * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 10**9)
        for listener in self.robot.bus.listeners:
            listener("/prime/joint_states", message)

    def state_mode(self, mode: int) -> None:
        message = ControlMode(mode=mode, controller_name="one of its controllers")
        for listener in self.robot.bus.listeners:
            listener("/control_mode", message)

    def write(self, key: tuple[int, int], value: int, behind: Datagram | None = None) -> None:
        self._send(ExpeditedDownload(*key, value.to_bytes(4, "little")).encode(), behind)

    def _send(self, payload: bytes, behind: Datagram | None = None) -> None:
        self.slave._al = Al(self.state)
        self.drive.statusword = self.status
        mail = encode_mailbox(payload, counter=1)
        address = physical(STATION + SLAVE, MAILBOX)
        before = [] if behind is None else [behind]
        frame = encode_frame([*before, Datagram(Command.FPWR, address, mail)])
        assert self.robot.cable is not None
        for departure in self.robot.cable.departures:
            departure(frame)

    def read(self, key: tuple[int, int]) -> None:
        self._send(UploadRequest(*key).encode())

    @property
    def convicted(self) -> list[str]:
        return [it.text for it in self.judge.violations]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JudgeBench:
    monkeypatch.setenv("ROS_HOME", str(tmp_path))
    return JudgeBench(tmp_path)


def test_a_write_counts_on_joint_states_for_a_tenth_of_a_second_and_no_longer(
    bench: JudgeBench,
) -> None:
    bench.publish_joint_states()
    bench.pass_time(LIMIT)
    bench.write(POSITION_GAIN, 515)
    assert bench.convicted == []
    bench.pass_time(TICK)
    bench.read(POSITION_GAIN)
    assert bench.convicted == []
    bench.write(POSITION_GAIN, 515)
    assert bench.convicted == ["0x2382:01 of slave 3: joint states are 0.101 s old"]


def test_a_write_behind_process_data_in_one_frame_is_judged(bench: JudgeBench) -> None:
    bench.publish_joint_states(age=LIMIT + TICK)
    bench.write(POSITION_GAIN, 515, behind=Datagram(Command.LRW, 0, bytes(200)))
    assert bench.convicted == ["0x2382:01 of slave 3: joint states are 0.101 s old"]


@pytest.mark.parametrize("mode", [Mode.DAMPING, Mode.STANDBY])
def test_closing_the_gate_of_an_enabled_drive_makes_it_stiff(bench: JudgeBench, mode: Mode) -> None:
    bench.state_mode(mode)
    bench.publish_joint_states()
    bench.write(GATE, 1)
    assert bench.convicted == []
    bench.write(GATE, 0)
    assert bench.convicted == ["0x2383:00 of slave 3: an enabled drive gets its factory gains"]
