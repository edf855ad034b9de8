"""The control process on mock hardware: effects of its topics, services and signals."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from humanoid_control_msgs.msg import ControlMode, MITCommand, SafetyStatus
from humanoid_control_msgs.srv import ClearFault
from std_msgs.msg import String
from test_support.arm_joints import ALL_JOINTS

if TYPE_CHECKING:
    from test_support.programs.started_process import StartedProcess

    from src.humanoid_bringup_prime.test.conftest import Client, StartControl

READY = [-0.15, 0.12, 0.0, -0.50, 0.0, 0.0, 0.0, -0.15, -0.12, 0.0, -0.50, 0.0, 0.0, 0.0]


@pytest.fixture
def robot(start_control: StartControl, client: Client) -> StartedProcess:
    """A running control process, reachable through the client."""
    running = start_control()
    client.connect()
    return running


def test_joint_states_name_the_fourteen_joints_in_order(onlooker):
    onlooker.until(lambda: onlooker.joint_states, "joint states")
    message = onlooker.joint_states[-1]
    assert tuple(message.name) == ALL_JOINTS
    assert message.header.frame_id == "base_link"  # rviz drops efforts of states without a frame
    assert len(message.position) == len(message.velocity) == len(message.effort) == 14


def test_a_late_subscriber_gets_description_and_safety(onlooker):
    onlooker.until(lambda: len(onlooker.joint_states) > 5, "some ticks")
    assert "<robot" in onlooker.latched(String, "/robot_description")[0].data
    safety = {it.source: it.level for it in onlooker.latched(SafetyStatus, "/safety_status", 3)}
    assert safety == dict.fromkeys(
        ("PrimeMock", "emergency_stop", "ros_callbacks"), SafetyStatus.OK
    )


def test_the_robot_starts_limp_and_publishes_it(onlooker):
    assert onlooker.now.mode == ControlMode.ZERO_TORQUE
    assert onlooker.now.controller_name == "zero_torque_controller"
    onlooker.until(lambda: onlooker.commands, "commands")
    command = onlooker.commands[-1]
    for values in (
        command.position,
        command.velocity,
        command.effort,
        command.stiffness,
        command.damping,
    ):
        assert list(values) == [0.0] * 14


def test_modes_follow_each_other_up_to_remote_and_back(user):
    before = user.now.switch_number
    user.reach(ControlMode.DAMPING)
    user.until(lambda: user.commands and user.commands[-1].damping[0] == 6.0, "damping 6")
    user.reach(ControlMode.STANDBY)
    user.finish_standby()
    user.until(
        lambda: list(user.joint_states[-1].position) == pytest.approx(READY), "the ready pose"
    )
    command = user.commands[-1]
    assert (set(command.stiffness), set(command.damping)) == ({20.0}, {2.0})
    user.reach(ControlMode.REMOTE)
    user.reach(ControlMode.DAMPING)
    numbers = [statement.switch_number for statement in user.statements]
    assert numbers == sorted(numbers)
    assert user.now.switch_number == before + 4  # DAMPING, STANDBY, REMOTE, DAMPING


def test_a_refusal_gives_the_reason_until_the_next_accepted_intent(user):
    user.request(ControlMode.STANDBY)
    reason = "Rejected LOAD: requires DAMPING (currently ZERO_TORQUE)"
    assert user.now.status_message == reason
    user.request(ControlMode.ZERO_TORQUE)  # the mode in force: no change, no new statement
    assert user.now.status_message == reason
    user.reach(ControlMode.DAMPING)
    assert user.now.status_message == ""


def test_a_mode_that_does_not_exist_is_refused_with_the_list_of_those_that_do(onlooker):
    onlooker.request(9)
    onlooker.until(lambda: "no mode 9" in onlooker.now.status_message, "the refusal")
    assert onlooker.now.mode == ControlMode.ZERO_TORQUE
    assert "1 DAMPING" in onlooker.now.status_message


def test_statements_of_a_second_stack_are_not_taken_for_requests(onlooker):
    onlooker._requests.publish(ControlMode(mode=ControlMode.DAMPING, controller_name="impostor"))
    onlooker.until(
        lambda: any(it.controller_name == "impostor" for it in onlooker.statements), "the impostor"
    )
    onlooker.next_statements()  # by the robot, which has received it, too
    assert onlooker.now.mode == ControlMode.ZERO_TORQUE


def test_a_publisher_that_repeats_a_request_never_leads_out_of_a_safety_fall(user):
    user.reach(ControlMode.DAMPING)
    user.reach(ControlMode.STANDBY)
    user.report(SafetyStatus.FAULT, "bench found a loose screw")
    user.until(lambda: user.now.mode == ControlMode.DAMPING, "the fall")
    assert "loose screw" in user.now.status_message
    for _ in range(5):  # `ros2 topic pub` without --once
        user.request(ControlMode.STANDBY)
        assert user.now.mode == ControlMode.DAMPING
    answer = user.call("/mode_manager/clear_fault", ClearFault)
    assert not answer.success
    assert "loose screw" in answer.message
    user.report(SafetyStatus.OK, "")
    user.request(ControlMode.STANDBY)
    assert user.now.mode == ControlMode.DAMPING  # healthy again, but the fault is not cleared
    user.clear_fault()
    user.reach(ControlMode.STANDBY)


def test_a_warning_is_no_reason_to_leave_a_mode(user):
    user.reach(ControlMode.DAMPING)
    user.reach(ControlMode.STANDBY)
    user.report(SafetyStatus.WARNING, "warm")
    user.next_statements(10)
    assert user.now.mode == ControlMode.STANDBY


@pytest.mark.parametrize(
    ("service", "message"),
    [
        ("load", "Rejected LOAD: requires DAMPING"),
        ("start_locomotion", "Rejected START_LOCOMOTION: requires STANDBY"),
        ("start_remote", "Rejected START_REMOTE: requires STANDBY"),
    ],
)
def test_services_refuse_like_the_topic(onlooker, service, message):
    answer = onlooker.call(f"/humanoid_control/mode/{service}")
    assert not answer.success
    assert answer.message.removesuffix(" (currently ZERO_TORQUE)") == message


@pytest.mark.parametrize(
    ("service", "message"), [("damp", "switching to DAMPING"), ("quit", "shutting down")]
)
def test_services_grant_like_the_topic(robot, client, service, message):
    answer = client.call(f"/humanoid_control/mode/{service}")
    assert answer.success
    assert answer.message.removesuffix(" (currently ZERO_TORQUE)") == message


def test_quit_ends_the_process_in_order(robot, client):
    assert client.call("/humanoid_control/mode/quit").success
    assert robot.wait() == 0
    assert "all joints are without torque" in robot.text()


@pytest.mark.parametrize(
    "signals", [[signal.SIGINT], [signal.SIGTERM], [signal.SIGINT] * 3], ids=str
)
def test_signals_end_the_process_in_order(robot, signals):
    for number in signals:
        robot.process.send_signal(number)
    assert robot.wait() == 0
    assert "Traceback" not in robot.text()
    assert "all joints are without torque" in robot.text()


def test_an_interrupt_damps_the_joints_before_it_takes_the_torque(robot, client):
    _standby(client)
    client.statements.clear()
    robot.process.send_signal(signal.SIGINT)
    client.until(lambda: robot.process.poll() is not None, "the end")
    assert robot.process.returncode == 0
    stated = dict.fromkeys(statement.mode for statement in client.statements)
    stated.pop(ControlMode.STANDBY, None)  # from just before
    assert list(stated) == [ControlMode.DAMPING, ControlMode.ZERO_TORQUE]
    assert "powering down: DAMPING until the joints are slow" in robot.text()


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGTERM]], ids=str)
def test_sigterm_takes_the_torque_at_once(robot, client, signals):
    _standby(client)
    client.statements.clear()
    for number in signals:
        robot.process.send_signal(number)
    client.until(lambda: robot.process.poll() is not None, "the end")
    assert robot.process.returncode == 0
    assert ControlMode.ZERO_TORQUE not in {statement.mode for statement in client.statements}
    assert "all joints are without torque" in robot.text()


def test_a_second_control_process_on_the_domain_is_refused(robot, start_control):
    second = start_control()
    assert second.wait() == 1
    assert "already running on ROS domain" in second.text()
    assert f"pid {robot.process.pid}" in second.text()
    assert robot.process.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs real-time priorities")
def test_every_thread_of_the_control_process_has_a_real_time_priority(shared_domain, onlooker):
    threads = Path(f"/proc/{shared_domain.control.process.pid}/task")

    def ordinary() -> list[str]:
        return [
            (thread / "comm").read_text()
            for thread in threads.iterdir()
            if os.sched_getscheduler(int(thread.name)) != os.SCHED_FIFO
        ]

    onlooker.until(lambda: not ordinary(), "real-time priorities, the middleware's threads too")


def _standby(client) -> None:
    client.reach(ControlMode.DAMPING)
    client.reach(ControlMode.STANDBY)


def _remote(client) -> None:
    _standby(client)
    client.finish_standby()
    client.reach(ControlMode.REMOTE)


def test_remote_follows_commands_whatever_their_stamp_is(user, used_robot):
    _remote(user)
    publisher = user.node.create_publisher(MITCommand, "/remote_policy_controller/command", 4)
    user.until(publisher.get_subscription_count, "the remote controller")
    target = [value + 0.1 for value in READY]
    command = MITCommand(
        joint_names=ALL_JOINTS, position=target, velocity=[0.0] * 14, effort=[0.0] * 14,
        stiffness=[15.0] * 14, damping=[1.0] * 14,
    )  # fmt: skip
    command.header.stamp.sec = 1  # 1970: a sender with a wrong clock

    def arrived() -> bool:
        publisher.publish(command)
        return list(user.joint_states[-1].position) == pytest.approx(target)

    user.until(arrived, "the commanded pose")
    assert user.commands[-1].stiffness[0] == 15.0
    # A command in another order is ignored, so the stream is stale and the joints go soft.
    command.joint_names = ALL_JOINTS[::-1]

    def soft() -> bool:
        publisher.publish(command)
        return user.commands[-1].stiffness[0] == 0.0

    messages: list[str] = []
    user.node.create_subscription(
        DiagnosticArray,
        "/diagnostics",
        lambda message: messages.extend(status.message for status in message.status),
        10,
    )
    user.until(soft, "gains 0 without valid commands")
    user.until(lambda: any("REMOTE: stale commands" in text for text in messages), "a warning")
    assert "command refused: joints in another order" in used_robot.control.text()


def test_diagnostics_show_timing_limits_and_hardware(onlooker):
    statuses: dict[str, DiagnosticStatus] = {}

    def listen(message: DiagnosticArray) -> None:
        statuses.update((status.name, status) for status in message.status)

    onlooker.node.create_subscription(DiagnosticArray, "/diagnostics", listen, 10)
    loop = {f"control loop: {part}" for part in ("timing", "mode", "limits")}
    expected = loop | {"hardware: PrimeMock", "joints: watchdogs"}
    onlooker.until(lambda: expected <= set(statuses), "diagnostics")
    values = {pair.key: pair.value for pair in statuses["control loop: timing"].values}
    assert int(values["ticks"]) > 0
    assert {"overruns", "period p99 [ms]", "execution median [us]", "real-time"} <= set(values)


def test_a_safety_level_that_does_not_exist_counts_as_critical(user):
    user.reach(ControlMode.DAMPING)
    user.reach(ControlMode.STANDBY)
    user.report(77, "what is this?")
    user.until(lambda: user.now.mode == ControlMode.DAMPING, "the fall")
    assert "unknown safety level 77 (what is this?)" in user.now.status_message
