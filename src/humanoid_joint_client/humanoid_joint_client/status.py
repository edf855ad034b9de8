"""The numbers of the joint stream's messages as enumerations. A test compares them."""

from enum import IntEnum


class Status(IntEnum):
    """The outcome of a call, of an update or of a stream. See joint_stream.proto."""

    UNKNOWN = 0
    OK = 1
    INVALID_REQUEST = 2
    INACTIVE = 3
    EXPIRED = 4
    TOO_DISTANT = 5
    UNSUPPORTED = 6
    NO_LEASE = 7
    LEASE_TAKEN = 8
    ALREADY_STREAMING = 9
    NOT_READY = 10
    FAULT = 11
    NOT_CLEARED = 12
    UNAVAILABLE = 13


class Execution(IntEnum):
    """The robot's execution of the stream. See joint_stream.proto."""

    UNKNOWN = 0
    INACTIVE = 1
    HOLDING = 2
    FOLLOWING = 3
    FALLBACK = 4
    FAULT = 5


class Capability(IntEnum):
    """The way a joint acts on one part of a command."""

    NEVER = 0
    PER_MODE = 1
    PER_TICK = 2
