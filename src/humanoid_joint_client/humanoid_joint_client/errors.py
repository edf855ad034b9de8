"""The errors of the client: one class for each status of the robot that is not OK."""

from typing import Final

from humanoid_joint_client.status import Status


class JointStreamError(Exception):
    """Root of the client's errors. The text is the robot's."""

    status = Status.UNKNOWN


class NoAnswerError(JointStreamError):
    """The server can't be reached, or does not answer in time."""


class InvalidRequestError(JointStreamError):
    """A field of a request is wrong; the text names it."""

    status = Status.INVALID_REQUEST


class InactiveError(JointStreamError):
    """The robot does not follow this stream, or no longer; the text has the reason."""

    status = Status.INACTIVE


class ExpiredError(JointStreamError):
    """An update's end time had passed."""

    status = Status.EXPIRED


class TooDistantError(JointStreamError):
    """An update's end time was further ahead than `RobotConfig.max_horizon`."""

    status = Status.TOO_DISTANT


class UnsupportedError(JointStreamError):
    """A joint can't do what an update commands; see `Joint.capabilities`."""

    status = Status.UNSUPPORTED


class NoLeaseError(JointStreamError):
    """This client does not have the lease, or no longer."""

    status = Status.NO_LEASE


class LeaseTakenError(JointStreamError):
    """Another client has the lease."""

    status = Status.LEASE_TAKEN


class AlreadyStreamingError(JointStreamError):
    """There is a stream of commands already."""

    status = Status.ALREADY_STREAMING


class NotReadyError(JointStreamError):
    """The robot is not in a finished STANDBY, or refuses REMOTE; the text has the reason."""

    status = Status.NOT_READY


class StreamFaultError(JointStreamError):
    """A fault is present: call `JointClient.clear_fault`."""

    status = Status.FAULT


class NotClearedError(JointStreamError):
    """The robot refuses to clear its fault; the text has the reason."""

    status = Status.NOT_CLEARED


class UnavailableError(JointStreamError):
    """There is no control process, or no controller of the joint stream; the text tells which."""

    status = Status.UNAVAILABLE


_CLASSES: Final = {kind.status: kind for kind in JointStreamError.__subclasses__() if kind.status}


def error_of(status: int, message: str) -> JointStreamError:
    """Return the error of a `status` that is not OK."""
    known = status in Status.__members__.values()
    name = Status(status).name if known else f"status {status}"
    kind = _CLASSES.get(Status(status), JointStreamError) if known else JointStreamError
    return kind(f"{name}: {message}" if message else name)


def raise_unless_ok(status: int, message: str) -> None:
    """Raise the error of a status that is not OK."""
    if status != Status.OK:
        raise error_of(status, message)
