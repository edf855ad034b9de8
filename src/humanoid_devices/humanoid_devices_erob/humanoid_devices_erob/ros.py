"""What the eRob drives are in ROS: services for their objects, and the impedance manager's word."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Protocol

import numpy as np
from humanoid_control_msgs.msg import ImpedanceState
from humanoid_control_msgs.msg import SdoObject as SdoObjectMessage
from humanoid_control_msgs.msg import SdoResult as SdoResultMessage
from humanoid_control_msgs.srv import ReadSdoBatch, WriteSdoBatch
from rclpy.qos import QoSProfile, ReliabilityPolicy

from humanoid_controller_manager.deferred_service import DeferredService
from humanoid_controller_manager.ros_host import RosHost
from humanoid_devices_erob.gains import Registers
from humanoid_devices_erob.impedance_statement import ImpedanceStatement
from humanoid_devices_erob.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus

READ_SERVICE = "/erob/read_sdo_batch"
WRITE_SERVICE = "/erob/write_sdo_batch"
IMPEDANCE_TOPIC = "/erob_impedance_manager/state"


class Drives(Protocol):
    """What the ROS side asks of the component; every method may be called from any thread."""

    def clock(self) -> float:
        """Time [s] of Linux' CLOCK_MONOTONIC, as in `SdoBatch.valid_until`."""

    def submit(self, batch: SdoBatch) -> Future[tuple[SdoResult, ...]]:
        """Begin a batch; the future never fails."""

    def impedance_stated(self, statement: ImpedanceStatement) -> None:
        """Told of every statement of the impedance manager."""


def attach(host: RosHost, drives: Drives) -> None:
    """Offer the SDO services and listen to the impedance manager."""
    node = host.node

    def read(request: ReadSdoBatch.Request) -> Future[tuple[SdoResult, ...]]:
        return drives.submit(SdoBatch(_objects(request.objects), write=False))

    def write(request: WriteSdoBatch.Request) -> Future[tuple[SdoResult, ...]]:
        batch = SdoBatch(
            _objects(request.objects),
            write=True,
            mode=request.mode,
            number=request.switch_number,
            valid_until=request.valid_until,
        )
        return drives.submit(batch)

    def listen(message: ImpedanceState) -> None:
        lengths = {len(getattr(message, name)) for name in _PER_JOINT}
        if len(lengths) > 1:
            node.get_logger().error(
                f"{IMPEDANCE_TOPIC} is ignored: its arrays have {sorted(lengths)} entries, "
                f"expected one for each of its {len(message.joint_names)} joints",
                throttle_duration_sec=1.0,
            )
        else:
            drives.impedance_stated(_statement(message, drives.clock()))

    DeferredService(node, ReadSdoBatch, READ_SERVICE, read, fill_response)
    DeferredService(node, WriteSdoBatch, WRITE_SERVICE, write, fill_response)
    newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
    node.create_subscription(ImpedanceState, IMPEDANCE_TOPIC, listen, newest)


def fill_response(results: Sequence[SdoResult], response: Any) -> None:
    """Write results into the response of either service."""
    failed = [result for result in results if result.status is not SdoStatus.DONE]
    response.success = not failed
    if failed:
        first = failed[0]
        response.message = (
            f"{len(failed)} of {len(results)} objects failed, first "
            f"{first.object}: {first.status.name}, {first.message}"
        )
    response.results = [_result_message(result) for result in results]


def _objects(messages: Sequence[Any]) -> tuple[SdoObject, ...]:
    return tuple(SdoObject(it.slave, it.index, it.subindex, it.data.tobytes()) for it in messages)


def _result_message(result: SdoResult) -> Any:
    target = result.object
    return SdoResultMessage(
        object=SdoObjectMessage(
            slave=target.slave, index=target.index, subindex=target.subindex, data=target.data
        ),
        status=int(result.status),
        abort_code=result.abort_code,
        message=result.message,
    )


_PER_JOINT = (
    "joint_names",
    "position_gain",
    "velocity_gain",
    "velocity_integral",
    "stiffness",
    "damping",
)


def _statement(message: Any, arrived: float) -> ImpedanceStatement:
    registers = Registers(
        np.array(message.position_gain, np.int64),
        np.array(message.velocity_gain, np.int64),
        np.array(message.velocity_integral, np.int64),
    )
    return ImpedanceStatement(
        arrived=arrived,
        gate_open=message.gate_open,
        armed=message.armed,
        confirmed=message.confirmed,
        mode=message.mode,
        number=message.switch_number,
        joint_names=tuple(message.joint_names),
        registers=registers,
        stiffness=np.array(message.stiffness, np.float64),
        damping=np.array(message.damping, np.float64),
        status_message=message.status_message,
    )
