"""Modes, the impedance manager and the registers of the ten drives."""

from __future__ import annotations

import pytest
from humanoid_control_msgs.msg import ControlMode
from humanoid_control_msgs.srv import ClearFault
from test_support.stepped.prime import LIMP, SOFT, STIFF, Prime

from humanoid_control_common.rules.modes import Mode
from humanoid_stepped.processes import StackProcess
from humanoid_stepped.robot import CONTROL, IMPEDANCE

POSITION, VELOCITY, GATE = 0x238201, 0x238101, 0x238300
SAFEOP, OPERATIONAL = 4, 8  # AL states
START_UPS = [*range(6), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(6, 200))]


def test_every_mode_reaches_the_drives_and_the_end_leaves_them_in_order(built: Prime) -> None:
    built.up()
    assert built.registers() == [LIMP] * 10
    for mode, registers in ((Mode.DAMPING, SOFT), (Mode.STANDBY, STIFF)):
        built.client.enter(mode)
        assert built.registers() == [registers] * 10
    built.client.finish_standby()
    built.client.enter(Mode.REMOTE)
    assert built.registers() == [STIFF] * 10
    assert built.client.now.status_message == ""
    built.client.enter(Mode.DAMPING)
    assert built.registers() == [SOFT] * 10
    control = built.processes[CONTROL]
    control.requests.in_order = True
    built.client.until(lambda: not control.runs, "the end")
    assert control.code == 0
    assert {drive["gate"] for drive in built.control.drives()} == {0}
    assert not any(drive["error"] for drive in built.control.drives())


@pytest.mark.parametrize("seed", START_UPS)
def test_no_mail_reaches_a_drive_between_preop_and_the_operation_of_all(
    built: Prime, seed: int
) -> None:
    """By ring time. /prime/joint_states begin only then, and mailbox messages only after them."""
    random = built.robot.scheduler.random
    random.seed(seed)
    built.control.mailbox_delay(random.uniform(0.0, 0.005))
    order = [IMPEDANCE, CONTROL]
    random.shuffle(order)
    built.processes[order[0]].start()
    built.pass_time(random.choice((0.0, random.uniform(0.0, 2.0))))
    built.up(IMPEDANCE, CONTROL)
    lines = built.control.log()

    def reached(state: int) -> dict[int, float]:
        """Return the time of each slave's last change to an AL state."""
        return {
            slave: time
            for time, slave, kind, detail in lines
            if kind == "state" and detail["state"] == state
        }

    left_preop, operational = reached(SAFEOP), reached(OPERATIONAL)
    assert len(left_preop) == len(operational) == 10
    mail = [
        time for time, slave, kind, _ in lines if kind == "request" and time > left_preop[slave]
    ]
    assert min(mail) > max(operational.values())
    assert not any(kind == "fault" for _, _, kind, _ in lines)


def test_robot_without_impedance_manager_reports_stiffness_and_stays_in_safe_modes(
    built: Prime,
) -> None:
    client = built.client
    built.up(CONTROL)
    client.next_statements()
    assert client.now.status_message == "stiff until armed"
    client.reach(Mode.DAMPING)
    client.request(Mode.STANDBY)
    client.until(lambda: "Rejected LOAD: " in client.now.status_message, "the end of the wait")
    assert client.now.mode == Mode.DAMPING
    assert {drive["gate"] for drive in built.control.drives()} == {0}
    built.processes[IMPEDANCE].start()
    client.enter(Mode.STANDBY)
    assert built.registers() == [STIFF] * 10
    assert client.now.status_message == ""


def test_after_a_control_process_was_killed_in_standby_the_next_one_starts_limp(
    prime: Prime,
) -> None:
    client = prime.client
    client.enter(Mode.STANDBY)
    prime.processes[CONTROL].kill()
    client.until(lambda: not client.impedance[-1].gate_open, "the gate to close")
    assert {drive["gate"] for drive in prime.control.drives()} == {1}  # the state after kill -9
    prime.control.log()
    client.statements.clear()
    client.joint_states.clear()
    prime.up(CONTROL)
    assert client.now.switch_number == 1
    assert prime.registers() == [LIMP] * 10
    first: dict[int, tuple[int, int]] = {}
    for slave, register, value in prime.writes():
        if register in {POSITION, VELOCITY, GATE}:
            first.setdefault(slave, (register, value))
    assert first == dict.fromkeys(range(10), (GATE, 0))  # in PREOP, before anything else
    assert not any(drive["error"] for drive in prime.control.drives())


def test_a_change_writes_two_registers_a_drive_in_the_order_that_is_never_stiffer(
    prime: Prime,
) -> None:
    prime.writes()
    prime.client.enter(Mode.STANDBY)
    up = prime.writes()
    prime.client.enter(Mode.DAMPING)
    down = prime.writes()
    for slave in range(10):
        assert [w[1:] for w in up if w[0] == slave] == [(VELOCITY, 19), (POSITION, 515)]
        assert [w[1:] for w in down if w[0] == slave] == [(POSITION, 0), (VELOCITY, 56)]


def test_a_manager_killed_in_standby_means_damping_and_soft_drives_until_it_is_back(
    prime: Prime,
) -> None:
    client = prime.client
    client.enter(Mode.STANDBY)
    prime.processes[IMPEDANCE].kill()
    client.until(lambda: client.now.mode == Mode.DAMPING, "the fall")
    assert "impedance manager silent" in client.now.status_message
    client.until(lambda: prime.registers() == [SOFT] * 10, "the last-resort softening")
    prime.processes[IMPEDANCE].start()
    client.confirmed()
    client.request(Mode.STANDBY)
    assert client.now.mode == Mode.DAMPING  # latched
    assert client.call("/mode_manager/clear_fault", ClearFault).success
    client.enter(Mode.STANDBY)
    assert prime.registers() == [STIFF] * 10


def test_a_second_manager_gives_way_and_nothing_changes(
    prime: Prime, capsys: pytest.CaptureFixture[str]
) -> None:
    prime.writes()
    first = prime.processes[IMPEDANCE]
    second = StackProcess(IMPEDANCE, prime.robot.session, first._run)
    second.start()
    prime.client.until(lambda: not second.runs, "its end")
    assert second.code == 1
    assert "another erob_impedance_manager runs" in capsys.readouterr().err
    assert prime.writes() == []
    prime.client.enter(Mode.STANDBY)
    assert prime.registers() == [STIFF] * 10


def test_a_replayed_recording_moves_no_gain(prime: Prime) -> None:
    client = prime.client
    recorded = ControlMode(
        mode=ControlMode.STANDBY,
        controller_name="standby_controller",
        switch_number=client.now.switch_number + 1,
    )
    recorded.header.stamp.sec = client.now.header.stamp.sec - 60
    publisher = client.node.create_publisher(ControlMode, "/control_mode", 10)
    assert publisher.get_subscription_count() >= 3
    prime.writes()
    count = len(client.statements)
    for _ in range(25):
        publisher.publish(recorded)
        client.next_statements(4)
    assert len(client.statements) > count + 50
    assert prime.writes() == []
    assert prime.registers() == [SOFT] * 10
    assert client.impedance[-1].mode == ControlMode.DAMPING
    assert client.impedance[-1].confirmed


def test_nine_drives_are_softened_while_the_tenth_does_not_answer(prime: Prime) -> None:
    client = prime.client
    client.enter(Mode.STANDBY)
    prime.control.mailbox_delay(float("inf"), 9)
    client.reach(Mode.DAMPING)
    client.until(lambda: prime.registers() == [SOFT] * 9 + [STIFF], "nine soft drives")
    client.until(
        lambda: "right_wrist_yaw" in client.impedance[-1].status_message, "the tenth to be named"
    )
    assert not client.impedance[-1].confirmed
    client.request(Mode.STANDBY)
    assert client.now.mode == Mode.DAMPING
    prime.control.mailbox_delay(0.002, 9)
    client.confirmed()
    assert prime.registers() == [SOFT] * 10
