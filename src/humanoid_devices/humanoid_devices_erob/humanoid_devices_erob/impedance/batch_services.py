"""Client of the component's SDO batch services, for other processes."""

from collections.abc import Callable
from typing import Any, Final

from humanoid_control_msgs.srv import ReadSdoBatch, WriteSdoBatch
from rclpy.node import Node

from humanoid_devices_erob.impedance.values import Batch, Reply
from humanoid_devices_erob.mailbox.sdo import SdoResult, SdoStatus
from humanoid_devices_erob.ros import (
    READ_SERVICE,
    WRITE_SERVICE,
    sdo_object,
    sdo_object_message,
)

TIMEOUT: Final = 1.0  # [s] for a batch; some 10 ms are usual, more if drives don't answer


class BatchServices:
    """Sends batches to the component, which checks mode, number and validity of every object."""

    def __init__(self, node: Node) -> None:
        self._read = node.create_client(ReadSdoBatch, READ_SERVICE)
        self._write = node.create_client(WriteSdoBatch, WRITE_SERVICE)
        self._names = {  # as in the graph, for messages
            self._read: node.resolve_service_name(READ_SERVICE),
            self._write: node.resolve_service_name(WRITE_SERVICE),
        }
        self._calls: dict[Any, Any] = {}  # pending futures, and their clients

    def obstacle(self) -> str:
        """Return why no batch can be sent now; empty if it can."""
        for client, name in self._names.items():
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
        objects = [sdo_object_message(item) for item in batch.objects]
        if not batch.write:
            return self._read, ReadSdoBatch.Request(objects=objects)
        request = WriteSdoBatch.Request(
            mode=int(batch.in_force.mode),
            switch_number=batch.in_force.number,
            valid_until=batch.valid_until,
            objects=objects,
        )
        return self._write, request


def _reply(response: Any) -> Reply:
    if not response.results:
        return Reply(failure=response.message or "no results")
    return Reply(
        [
            SdoResult(sdo_object(it.object), SdoStatus(it.status), it.abort_code, it.message)
            for it in response.results
        ]
    )
