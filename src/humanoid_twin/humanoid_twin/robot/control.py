"""The client of a whole virtual robot's control channel."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Final

from humanoid_twin.can.control import CanMethods
from humanoid_twin.control.client import ControlClient, remote
from humanoid_twin.control.joint_client import JointClient
from humanoid_twin.errors import TwinError
from humanoid_twin.ethercat.control import RingControl
from humanoid_twin.mounting import EncoderCommands
from humanoid_twin.physics.loads import Loads
from humanoid_twin.physics.recorder import RecorderCommands, Recording, load_recording
from humanoid_twin.robot.actuators import ActuatorCommands

_ONE_BUS: Final = "can_"  # what the commands of `CanMethods` begin with


class BusControl(CanMethods):
    """The commands of one of several CAN buses, on the connection of its robot."""

    def __init__(self, robot: ControlClient, bus: str) -> None:
        self._robot, self._prefix = robot, f"{bus}_"

    def request(self, command: str, **arguments: object) -> Any:
        """See ControlClient."""
        own = self._prefix + command.removeprefix(_ONE_BUS)
        return self._robot.request(own, **arguments)


class RobotControl(JointClient, RingControl, CanMethods):
    """A connection to one robot: the commands of its ring, CAN bus, joints, links and encoders.

    The methods `can_…` are those of a CAN bus whose name is "can"; `bus` has those of any.

    All methods raise TwinError if the robot refuses, or is gone.
    """

    process_name: ClassVar[str] = "robot"
    error: ClassVar[type[TwinError]] = TwinError

    bus_addresses = remote(ActuatorCommands.bus_addresses)
    stick_encoder = remote(EncoderCommands.stick_encoder)
    shift_encoder = remote(EncoderCommands.shift_encoder)
    wrench = remote(Loads.wrench)
    payload = remote(Loads.payload)
    obstacle = remote(Loads.obstacle)
    no_obstacle = remote(Loads.no_obstacle)
    record = remote(RecorderCommands.record)

    def bus(self, name: str) -> CanMethods:
        """Return the commands of the CAN bus of this name."""
        return BusControl(self, name)

    def set_joint(self, slave: int | str, position: float, velocity: float = 0.0) -> None:
        """Set angle [rad] and speed [rad/s] of a joint, by ring position or by name."""
        if isinstance(slave, int):
            super().set_joint(slave, position, velocity)
        else:
            self.request("place", joint=slave, position=position, velocity=velocity)

    def external_torque(self, slave: int | str, torque: float) -> None:
        """Load a joint from outside [Nm] until the next call, by ring position or by name."""
        if isinstance(slave, int):
            super().external_torque(slave, torque)
        else:
            self.request("load", joint=slave, torque=torque)

    def recorded(self) -> Recording:
        """Return what has been recorded since the last `record`."""
        with TemporaryDirectory(prefix="hc_recording_") as folder:
            path = Path(folder) / "recording.npz"
            self.request("recorded", path=str(path))
            return load_recording(path)
