"""The enumerations beside the generated messages, and the errors."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import pytest

from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.errors import JointStreamError, error_of, raise_unless_ok
from humanoid_joint_client.rpc import methods
from humanoid_joint_client.status import Capability, Execution, Status


@pytest.mark.parametrize(
    ("ours", "theirs", "prefix"),
    [
        (Status, pb.Status, "STATUS_"),
        (Execution, pb.Execution, "EXECUTION_"),
        (Capability, pb.Capability, "CAPABILITY_"),
    ],
)
def test_enumerations_are_those_of_the_messages(
    ours: type[IntEnum], theirs: Any, prefix: str
) -> None:
    assert {f"{prefix}{it.name}": int(it) for it in ours} == dict(theirs.items())


@pytest.mark.parametrize("status", [it for it in Status if it not in (Status.OK, Status.UNKNOWN)])
def test_every_status_has_an_error_of_its_own(status: Status) -> None:
    error = error_of(status, "why")
    assert (error.status, str(error)) == (status, f"{status.name}: why")
    assert type(error) is not JointStreamError
    with pytest.raises(type(error)):
        raise_unless_ok(status, "why")


def test_a_status_of_a_newer_server_is_an_error_too() -> None:
    assert str(error_of(999, "why")) == "status 999: why"
    raise_unless_ok(Status.OK, "")


def test_the_calls_are_those_of_the_description() -> None:
    kinds = {it.name: it.kind for it in methods()}
    assert kinds.pop("StreamCommands") == "stream_unary"
    assert kinds.pop("StreamStates") == "stream_stream"
    assert set(kinds.values()) == {"unary_unary"}
    assert len(kinds) == 12
