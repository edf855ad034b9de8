"""ROS interface of the eRob drives: services for their objects, the impedance manager's state."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Protocol

import numpy as np
from humanoid_control_msgs.msg import ImpedanceState
from humanoid_control_msgs.msg import SdoObject as SdoObjectMessage
from humanoid_control_msgs.msg import SdoResult as SdoResultMessage
from humanoid_control_msgs.srv import ReadSdoBatch, WriteSdoBatch
from rclpy.qos import QoSProfile, ReliabilityPolicy

from humanoid_controller_manager.ros.execution.deferred_service import DeferredService
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_devices_erob.drive.gains import Registers
from humanoid_devices_erob.impedance.names import STATE_TOPIC
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.operation.drive_impedance import ImpedanceReport

READ_SERVICE = "erob/read_sdo_batch"
WRITE_SERVICE = "erob/write_sdo_batch"


class Drives(Protocol):
    """The component as the ROS side uses it; any thread may call every method."""

    def clock(self) -> float:
        """Return the time [s] of Linux' CLOCK_MONOTONIC, as in `SdoBatch.valid_until`."""

    def submit(self, batch: SdoBatch) -> Future[tuple[SdoResult, ...]]:
        """Begin a batch; the future never fails."""

    def impedance_reported(self, report: ImpedanceReport) -> None:
        """Take a report of the impedance manager."""


def attach(context: PluginContext, drives: Drives) -> None:
    """Offer the SDO services and subscribe to the impedance manager's state."""
    node = context.node

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
                f"{subscription.topic_name} is ignored: its arrays have {sorted(lengths)} entries, "
                f"expected one for each of its {len(message.joint_names)} joints",
                throttle_duration_sec=1.0,
            )
        else:
            drives.impedance_reported(_impedance_report(message, drives.clock()))

    DeferredService(node, ReadSdoBatch, READ_SERVICE, read, fill_response)
    DeferredService(node, WriteSdoBatch, WRITE_SERVICE, write, fill_response)
    newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
    subscription = node.create_subscription(ImpedanceState, STATE_TOPIC, listen, newest)


def fill_response(results: Sequence[SdoResult], response: Any) -> None:
    """Fill the response of either service with the results."""
    failed = [result for result in results if result.status is not SdoStatus.DONE]
    response.success = not failed
    if failed:
        first = failed[0]
        response.message = (
            f"{len(failed)} of {len(results)} objects failed, first "
            f"{first.object}: {first.status.name}, {first.message}"
        )
    response.results = [_result_message(result) for result in results]


def sdo_object(message: Any) -> SdoObject:
    """Return the object in a humanoid_control_msgs/SdoObject."""
    return SdoObject(message.slave, message.index, message.subindex, bytes(message.data))


def sdo_object_message(target: SdoObject) -> Any:
    """Return the humanoid_control_msgs/SdoObject of an object."""
    return SdoObjectMessage(
        slave=target.slave, index=target.index, subindex=target.subindex, data=target.data
    )


def _objects(messages: Sequence[Any]) -> tuple[SdoObject, ...]:
    return tuple(map(sdo_object, messages))


def _result_message(result: SdoResult) -> Any:
    return SdoResultMessage(
        object=sdo_object_message(result.object),
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


def _impedance_report(message: Any, arrived: float) -> ImpedanceReport:
    registers = Registers(
        np.array(message.position_gain, np.int64),
        np.array(message.velocity_gain, np.int64),
        np.array(message.velocity_integral, np.int64),
    )
    return ImpedanceReport(
        arrived=arrived,
        gate_open=message.gate_open,
        armed=message.armed,
        confirmed=message.confirmed,
        mode=message.mode,
        number=message.switch_number,
        joint_names=tuple(message.joint_names),
        registers=registers,
        status_message=message.status_message,
    )
