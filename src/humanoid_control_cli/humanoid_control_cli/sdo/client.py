"""Read and write CoE objects through the control process, the only user of the ring."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from humanoid_control_msgs.msg import SdoObject, SdoResult
from humanoid_control_msgs.srv import ReadSdoBatch, WriteSdoBatch

from humanoid_control_cli.client import Client
from humanoid_control_cli.errors import NoAnswerError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.sdo.values import Address
from humanoid_control_cli.statements import StampedStatement
from humanoid_devices_erob.protocol.abort import describe_abort
from humanoid_devices_erob.reason_codes import SDO_TIMED_OUT

READ: Final = "erob/read_sdo_batch"
WRITE: Final = "erob/write_sdo_batch"
# Result of an object that is not DONE, with its remedy.
FAILURES: Final = {
    SdoResult.REFUSED: "was refused",
    SdoResult.ABORTED: "was aborted by the drive",
    SdoResult.TIMED_OUT: "got no answer from the drive: `hc status` shows whether it is there",
    SdoResult.DIFFERENT: "was written, but reads back as another value: the drive has limited it, "
    "or another program writes it",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result for one object of one slave."""

    position: int  # on the ring
    address: Address
    data: bytes  # as read, or as read back
    failure: str = ""  # in words; empty if it was done


class SdoClient:
    """To be made of a Client before it waits for anything else."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._modes = ModeClient(client)

    def read(self, positions: Sequence[int], address: Address) -> list[Outcome]:
        """Read an object of several slaves. Raises NoAnswerError without a ring."""
        return self._call(ReadSdoBatch, READ, ReadSdoBatch.Request(), positions, address, b"")

    def write(self, positions: Sequence[int], address: Address, data: bytes) -> list[Outcome]:
        """Write an object of several slaves in the mode in force, and read it back.

        Raises NoAnswerError without a ring.
        """
        statement = self._statement()
        request = WriteSdoBatch.Request(
            mode=int(statement.mode),
            switch_number=statement.switch_number,
            valid_until=time.monotonic() + self._client.timeout,
        )
        return self._call(WriteSdoBatch, WRITE, request, positions, address, data)

    def _statement(self) -> StampedStatement:
        try:
            return self._modes.statement()
        except NoAnswerError as error:
            remedy = "only `hc up real` and `hc up twin` have drives"
            raise NoAnswerError(f"{error}; {remedy}") from error

    def _call(
        self,
        kind: Any,
        service: str,
        request: Any,
        positions: Sequence[int],
        address: Address,
        data: bytes,
    ) -> list[Outcome]:
        statement = self._statement()  # distinguishes a robot without a ring from no robot
        name = self._client.node.resolve_service_name(service)
        request.objects = [
            SdoObject(
                slave=position, index=address.index, subindex=address.subindex, data=list(data)
            )
            for position in positions
        ]
        absent = NoAnswerError(
            f"a control process is running ({statement.mode.name}), but {name} does not answer "
            f"within {self._client.timeout:g} s: only a robot with an EtherCAT ring has it, as "
            "started by `hc up real` or `hc up twin`"
        )
        response = self._client.call(kind, service, request, absent)
        if len(response.results) != len(request.objects):
            raise NoAnswerError(
                f"{name} answered without results: {response.message or 'no reason given'}"
            )
        return [outcome_of(result) for result in response.results]


def outcome_of(result: Any) -> Outcome:
    """Return the text of a batch's result code: from the message, or the component's own."""
    address = Address(result.object.index, result.object.subindex)
    return Outcome(result.object.slave, address, bytes(result.object.data), _failure(result))


def _failure(result: Any) -> str:
    if result.status == SdoResult.DONE:
        return ""
    reason = describe_abort(result.abort_code) if result.abort_code else result.message
    text = FAILURES.get(result.status, f"failed with status {result.status}")
    text = f"{text}: {reason}" if reason else text
    timed_out = result.status == SdoResult.TIMED_OUT
    return f"{text} [{SDO_TIMED_OUT}]" if timed_out else text
