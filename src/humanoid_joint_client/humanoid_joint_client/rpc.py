"""The calls of the joint stream's service, from its description: for clients and servers.

Generated stubs check the version of the library that made them; these run with any.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import grpc
from google.protobuf import descriptor_pb2, message

from humanoid_joint_client import joint_stream_pb2

LARGEST_MESSAGE: Final = 64 * 1024  # [bytes], in both directions
LARGEST_DESCRIPTION: Final = 16 * 1024 * 1024  # [bytes] of a reply: a URDF may be long


@dataclass(frozen=True, slots=True)
class Method:
    """One call of the service."""

    name: str
    path: str
    request: Any  # class of its message
    response: Any
    client_streams: bool
    server_streams: bool

    @property
    def kind(self) -> str:
        """The kind as gRPC names it, such as stream_unary."""
        words = ("unary", "stream")
        return f"{words[self.client_streams]}_{words[self.server_streams]}"


def methods() -> list[Method]:
    """Return the calls of the service, in their order."""
    service = joint_stream_pb2.DESCRIPTOR.services_by_name["JointStream"]
    plain = descriptor_pb2.ServiceDescriptorProto()
    service.CopyToProto(plain)
    return [
        Method(
            it.name,
            f"/{service.full_name}/{it.name}",
            getattr(joint_stream_pb2, it.input_type.rpartition(".")[2]),
            getattr(joint_stream_pb2, it.output_type.rpartition(".")[2]),
            it.client_streaming,
            it.server_streaming,
        )
        for it in plain.method
    ]


def stubs(channel: grpc.Channel) -> dict[str, Any]:
    """Return the calls of a client by name."""
    return {
        it.name: getattr(channel, it.kind)(
            it.path,
            request_serializer=it.request.SerializeToString,
            response_deserializer=it.response.FromString,
        )
        for it in methods()
    }


def handler(answers: Mapping[str, Callable[..., Any]]) -> grpc.GenericRpcHandler:
    """Return the handler of a server with a function for each call, by name.

    The answer of a stream of responses is bytes: one serialization serves all readers. Bytes that
    are no message are the request None: whatever comes, no exception is raised inside of gRPC.
    """
    made = {
        it.name: getattr(grpc, f"{it.kind}_rpc_method_handler")(
            answers[it.name],
            request_deserializer=parser(it.request),
            response_serializer=bytes if it.server_streams else it.response.SerializeToString,
        )
        for it in methods()
    }
    service = joint_stream_pb2.DESCRIPTOR.services_by_name["JointStream"].full_name
    return grpc.method_handlers_generic_handler(service, made)


def parser(kind: Any) -> Callable[[bytes], Any]:
    """Return a function that returns the message in bytes, or None."""

    def parsed(data: bytes) -> Any:
        try:
            return kind.FromString(data)
        except message.DecodeError:
            return None

    return parsed
