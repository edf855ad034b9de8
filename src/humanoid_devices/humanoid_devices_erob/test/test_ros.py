"""The SDO services and the state of the impedance manager, over real topics and services."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from importlib.metadata import entry_points
from types import SimpleNamespace
from typing import Any

import pytest
from humanoid_control_msgs.msg import ImpedanceState
from humanoid_control_msgs.msg import SdoObject as SdoObjectMessage
from humanoid_control_msgs.msg import SdoResult as SdoResultMessage
from humanoid_control_msgs.srv import ReadSdoBatch, WriteSdoBatch
from rclpy.executors import TimeoutException
from std_srvs.srv import Trigger
from test_support.lone_node import LoneNode

from humanoid_devices_erob import ros
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.operation.drive_impedance import ImpedanceReport

NOW = 1000.0  # [s] on the drives' clock


class Ros(LoneNode):
    """With clients."""

    def client(self, kind: Any, name: str) -> Any:
        client = self.node.create_client(kind, name)
        self.spin_until(client.service_is_ready)
        return client


class Drives:
    """Takes batches, and ends them when the test calls `finish`."""

    def __init__(self) -> None:
        self.batches: list[SdoBatch] = []
        self.futures: list[Future[tuple[SdoResult, ...]]] = []
        self.reports: list[ImpedanceReport] = []

    def clock(self) -> float:
        return NOW

    def submit(self, batch: SdoBatch) -> Future[tuple[SdoResult, ...]]:
        self.batches.append(batch)
        self.futures.append(Future())
        return self.futures[-1]

    def impedance_reported(self, report: ImpedanceReport) -> None:
        self.reports.append(report)

    def finish(self, position: int, *results: SdoResult) -> None:
        """End a batch from another thread, as the thread of the I/O does."""
        thread = threading.Thread(target=self.futures[position].set_result, args=(results,))
        thread.start()
        thread.join()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ros]:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("ROS_PYTHON_CHECK_FIELDS", "1")
    world = Ros("controller_manager")
    yield world
    world.close()


@pytest.fixture
def drives(world: Ros) -> Drives:
    drives = Drives()
    ros.attach(SimpleNamespace(node=world.node), drives)
    return drives


def gain(slave: int, data: bytes = b"") -> SdoObjectMessage:
    return SdoObjectMessage(slave=slave, index=0x2381, subindex=1, data=data)


def test_a_write_is_handed_over_whole_and_answered_when_it_is_done(
    world: Ros, drives: Drives
) -> None:
    client = world.client(WriteSdoBatch, "/erob/write_sdo_batch")
    request = WriteSdoBatch.Request(
        mode=2,
        switch_number=77,
        valid_until=NOW + 1.5,
        objects=[gain(0, b"\x13\0\0\0"), gain(9, b"\x14\0\0\0")],
    )
    answer = client.call_async(request)
    world.spin_until(lambda: bool(drives.batches))

    objects = (SdoObject(0, 0x2381, 1, b"\x13\0\0\0"), SdoObject(9, 0x2381, 1, b"\x14\0\0\0"))
    assert drives.batches == [
        SdoBatch(objects, write=True, mode=2, number=77, valid_until=NOW + 1.5)
    ]
    assert not answer.done()
    drives.finish(0, *(SdoResult(target, SdoStatus.DONE) for target in objects))
    world.spin_until(answer.done)
    response = answer.result()
    assert (response.success, response.message) == (True, "")
    assert [bytes(result.object.data) for result in response.results] == [
        b"\x13\0\0\0",
        b"\x14\0\0\0",
    ]


def test_a_read_reports_every_object_and_the_first_that_failed(world: Ros, drives: Drives) -> None:
    client = world.client(ReadSdoBatch, "/erob/read_sdo_batch")
    answer = client.call_async(ReadSdoBatch.Request(objects=[gain(0), gain(1)]))
    world.spin_until(lambda: bool(drives.batches))
    assert not drives.batches[0].write
    first, second = drives.batches[0].objects
    drives.finish(
        0,
        SdoResult(SdoObject(0, 0x2381, 1, b"\x13\0\0\0"), SdoStatus.DONE),
        SdoResult(second, SdoStatus.ABORTED, 0x06020000, "object does not exist"),
    )
    world.spin_until(answer.done)
    response = answer.result()
    assert first == SdoObject(0, 0x2381, 1)
    assert not response.success
    assert response.message == (
        "1 of 2 objects failed, first slave 1 0x2381:01: ABORTED, object does not exist"
    )
    assert [result.status for result in response.results] == [0, SdoResultMessage.ABORTED]
    assert response.results[0].object == gain(0, b"\x13\0\0\0")
    assert response.results[1].abort_code == 0x06020000


def test_a_batch_under_way_delays_no_other_and_answers_reach_their_callers(
    world: Ros, drives: Drives
) -> None:
    client = world.client(ReadSdoBatch, "/erob/read_sdo_batch")
    world.node.create_service(Trigger, "/other", lambda _, response: response)
    other = world.client(Trigger, "/other")
    answers = [client.call_async(ReadSdoBatch.Request(objects=[gain(slave)])) for slave in range(3)]
    world.spin_until(lambda: len(drives.batches) == 3)
    meanwhile = other.call_async(Trigger.Request())
    world.spin_until(meanwhile.done)
    assert not any(answer.done() for answer in answers)

    for position in (2, 0, 1):
        (target,) = drives.batches[position].objects
        drives.finish(position, SdoResult(target, SdoStatus.TIMED_OUT, message="silent"))
    world.spin_until(lambda: all(answer.done() for answer in answers))
    found = [answer.result().results[0].object.slave for answer in answers]
    assert found == [0, 1, 2]


def test_the_executor_sleeps_while_a_batch_is_under_way(world: Ros, drives: Drives) -> None:
    client = world.client(ReadSdoBatch, "/erob/read_sdo_batch")
    answer = client.call_async(ReadSdoBatch.Request(objects=[gain(0)]))
    world.spin_until(lambda: bool(drives.batches))
    # Polling for the result would keep the executor from ever timing out.
    for _ in range(100):
        try:
            handler, _, _ = world.executor.wait_for_ready_callbacks(timeout_sec=0.02)
        except TimeoutException:
            break
        handler()
    else:
        pytest.fail("the executor never sleeps")
    assert not answer.done()
    drives.finish(0)
    world.spin_until(answer.done)


def test_a_batch_that_is_done_at_once_is_answered(world: Ros, drives: Drives) -> None:
    client = world.client(ReadSdoBatch, "/erob/read_sdo_batch")
    done: Future[tuple[SdoResult, ...]] = Future()
    done.set_result(())
    drives.submit = lambda batch: done
    answer = client.call_async(ReadSdoBatch.Request())
    world.spin_until(answer.done)
    assert answer.result().success


def test_a_batch_that_ends_after_its_node_has_no_effect(world: Ros, drives: Drives, caplog) -> None:
    client = world.client(ReadSdoBatch, "/erob/read_sdo_batch")
    client.call_async(ReadSdoBatch.Request(objects=[gain(0)]))
    world.spin_until(lambda: bool(drives.batches))
    world.node.destroy_node()
    drives.finish(0)
    assert caplog.text == ""


def report(**changes: Any) -> ImpedanceState:
    values: dict[str, Any] = {
        "gate_open": True,
        "armed": True,
        "confirmed": True,
        "mode": 2,
        "switch_number": 5,
        "joint_names": ["left_elbow_pitch", "right_elbow_pitch"],
        "position_gain": [515, 0],
        "velocity_gain": [19, 56],
        "velocity_integral": [0, 0],
        "stiffness": [20.2, 0.0],
        "damping": [2.02, 5.95],
        "status_message": "",
    }
    return ImpedanceState(**{**values, **changes})


def test_the_impedance_managers_report_is_handed_over(world: Ros, drives: Drives) -> None:
    publisher = world.node.create_publisher(ImpedanceState, "/erob_impedance_manager/state", 1)
    world.spin_until(lambda: publisher.get_subscription_count() > 0)
    publisher.publish(report(status_message="all well"))
    world.spin_until(lambda: bool(drives.reports))
    (found,) = drives.reports
    assert (found.arrived, found.mode, found.number) == (NOW, 2, 5)
    assert (found.gate_open, found.armed, found.confirmed) == (True, True, True)
    assert found.joint_names == ("left_elbow_pitch", "right_elbow_pitch")
    assert found.registers.position_gain.tolist() == [515, 0]
    assert found.registers.velocity_gain.tolist() == [19, 56]
    assert found.registers.velocity_integral.tolist() == [0, 0]
    assert found.status_message == "all well"


def test_a_report_whose_arrays_do_not_match_is_not_accepted(world: Ros, drives: Drives) -> None:
    publisher = world.node.create_publisher(ImpedanceState, "/erob_impedance_manager/state", 10)
    world.spin_until(lambda: publisher.get_subscription_count() > 0)
    publisher.publish(report(damping=[2.0]))
    publisher.publish(report(switch_number=6))
    world.spin_until(lambda: bool(drives.reports))
    assert [found.number for found in drives.reports] == [6]


def test_the_ros_side_is_found_under_the_name_of_the_urdf() -> None:
    (ros_side,) = entry_points(group="humanoid_control.ros", name="ethercat_driver/EthercatDriver")
    assert ros_side.load() is ros.attach
