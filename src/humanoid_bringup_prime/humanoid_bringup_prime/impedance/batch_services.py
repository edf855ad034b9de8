"""The batch services of the hardware component, as a transport."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from humanoid_control_msgs.msg import SdoObject as SdoObjectMessage
from humanoid_control_msgs.srv import ReadSdoBatch, WriteSdoBatch
from rclpy.duration import Duration
from rclpy.node import Node

from humanoid_bringup_prime.impedance.values import Batch, Refusal, Reply
from humanoid_devices_erob.sdo import SdoObject, SdoResult, SdoStatus

READ = "/erob/read_sdo_batch"
WRITE = "/erob/write_sdo_batch"


class BatchServices:
    """Calls the component, which checks mode, number and validity before every object."""

    patience = 1.0  # [s]; a batch takes some 10 ms, more only with drives that don't answer

    def __init__(self, node: Node) -> None:
        self._read = node.create_client(ReadSdoBatch, READ)
        self._write = node.create_client(WriteSdoBatch, WRITE)
        self._calls: dict[Any, Any] = {}  # futures without answer, and whose they are

    def obstacle(self) -> str:
        """See Transport."""
        for name, client in ((READ, self._read), (WRITE, self._write)):
            if not client.service_is_ready():
                for call, owner in self._calls.items():
                    owner.remove_pending_request(call)
                self._calls.clear()
                return f"waiting for the service {name}"
        return ""

    def send(self, batch: Batch, refusal: Refusal, done: Callable[[Reply], None]) -> None:
        """See Transport. What `refusal` would say, the component knows as well."""
        client, request = self._request(batch)
        call = client.call_async(request)
        self._calls[call] = client

        def answered(call: Any) -> None:
            if self._calls.pop(call, None) is not None:
                done(_reply(call.result()))

        call.add_done_callback(answered)

    def close(self, refusal: Refusal) -> None:
        """The component leaves the drives in order itself."""

    def _request(self, batch: Batch) -> tuple[Any, Any]:
        objects = [
            SdoObjectMessage(
                slave=item.slave, index=item.index, subindex=item.subindex, data=list(item.data)
            )
            for item in batch.objects
        ]
        if not batch.write:
            return self._read, ReadSdoBatch.Request(objects=objects)
        request = WriteSdoBatch.Request(
            mode=int(batch.wish.mode), switch_number=batch.wish.number, objects=objects
        )
        request.valid_for = Duration(seconds=batch.valid_for).to_msg()
        return self._write, request


def _reply(response: Any) -> Reply:
    if not response.results:
        return Reply(failure=response.message or "no results")
    return Reply([_result(result) for result in response.results])


def _result(result: Any) -> SdoResult:
    item = result.object
    sdo = SdoObject(item.slave, item.index, item.subindex, bytes(item.data))
    return SdoResult(sdo, SdoStatus(result.status), result.abort_code, result.message)
