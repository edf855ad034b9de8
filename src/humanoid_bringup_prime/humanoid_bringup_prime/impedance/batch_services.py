"""The batch services of the hardware component: the way to the drives' object dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from humanoid_control_msgs.msg import SdoObject as SdoObjectMessage
from humanoid_control_msgs.srv import ReadSdoBatch, WriteSdoBatch
from rclpy.node import Node

from humanoid_bringup_prime.impedance.values import Batch, Reply
from humanoid_devices_erob.sdo import SdoObject, SdoResult, SdoStatus

READ = "/erob/read_sdo_batch"
WRITE = "/erob/write_sdo_batch"
PATIENCE: Final = 1.0  # [s]; a batch takes some 10 ms, more only with drives that don't answer


class BatchServices:
    """Calls the component, which checks mode, number and validity before every object."""

    def __init__(self, node: Node) -> None:
        self._read = node.create_client(ReadSdoBatch, READ)
        self._write = node.create_client(WriteSdoBatch, WRITE)
        self._calls: dict[Any, Any] = {}  # futures without answer, and whose they are

    def obstacle(self) -> str:
        """Why nothing can be sent now; empty if it can."""
        for name, client in ((READ, self._read), (WRITE, self._write)):
            if not client.service_is_ready():
                for call, owner in self._calls.items():
                    owner.remove_pending_request(call)
                self._calls.clear()
                return f"waiting for the service {name}"
        return ""

    def send(self, batch: Batch, done: Callable[[Reply], None]) -> None:
        """Begin `batch`; `done` is called once, in any thread, or never."""
        client, request = self._request(batch)
        call = client.call_async(request)
        self._calls[call] = client

        def answered(call: Any) -> None:
            if self._calls.pop(call, None) is not None:
                done(_reply(call.result()))

        call.add_done_callback(answered)

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
            mode=int(batch.wish.mode),
            switch_number=batch.wish.number,
            valid_until=batch.valid_until,
            objects=objects,
        )
        return self._write, request


def _reply(response: Any) -> Reply:
    if not response.results:
        return Reply(failure=response.message or "no results")
    return Reply([_result(result) for result in response.results])


def _result(result: Any) -> SdoResult:
    item = result.object
    sdo = SdoObject(item.slave, item.index, item.subindex, bytes(item.data))
    return SdoResult(sdo, SdoStatus(result.status), result.abort_code, result.message)
