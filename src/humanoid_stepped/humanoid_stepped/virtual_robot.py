"""The virtual robot in this process: its buses, the drives and the physics."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from types import NoneType
from typing import Any, Final

from humanoid_stepped.scheduler import NEVER, Scheduler
from humanoid_stepped.wires.can import MemoryAdapter
from humanoid_stepped.wires.ethercat import Cable
from humanoid_stepped.wires.serial_can import SerialAdapter
from humanoid_twin.assumptions import assume
from humanoid_twin.can.commands import CanCommands
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.build import VirtualCan
from humanoid_twin.clock import SimulatedTime, SteppedClock
from humanoid_twin.control.client import to_json
from humanoid_twin.control.commands import CommandTable, TimeCommands
from humanoid_twin.errors import TwinError
from humanoid_twin.ethercat.commands import RingCommands
from humanoid_twin.ethercat.frame_faults import FrameFaults
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.mounting import Mounting
from humanoid_twin.physics.mujoco_plant import MujocoPlant
from humanoid_twin.physics.recorder import Recorder, Recording
from humanoid_twin.robot.actuators import Actuators, CanActuator
from humanoid_twin.robot.control import RobotControl
from humanoid_twin.robot.main import Drives, add_joints, build_motors, build_ring
from humanoid_twin.scheduler import Scheduler as RobotScheduler

Adapter = MemoryAdapter | SerialAdapter
ADAPTERS: Final[Mapping[str, type[Adapter]]] = {
    "socketcan": MemoryAdapter,
    "slcan": SerialAdapter,
}
_UNCHANGED: Final = frozenset({NoneType, bool, int, float, str})


class VirtualRobot:
    """The virtual robot as a World of the scheduler.

    Args:
        urdf: geometry and masses.
        actuators: those of all buses.
        random: draws the frame faults of the ring.
        can_interface: kind of the adapters: "slcan", or "socketcan".
        assumed: facts about the drives, each NAME=VALUE.
        mountings: direction and offset of each drive on its joint.
    """

    def __init__(
        self,
        urdf: str,
        actuators: Actuators,
        random: Random,
        can_interface: str,
        assumed: Sequence[str] = (),
        mountings: Mapping[str, Mounting] | None = None,
    ) -> None:
        self._actuators, self._mountings = actuators, mountings or {}
        self._adapter_type = ADAPTERS[can_interface]
        self.joints = actuators.joints
        self.plant = plant = MujocoPlant(
            urdf, actuators.rotors, actuators.frictions, actuators.springs
        )
        self._simulated_time = SimulatedTime()
        self.robot = RobotScheduler(plant, self._simulated_time)
        self.frame_faults = FrameFaults(random)
        self.commands = CommandTable()
        self._drives: Drives = {}
        self.ring = self._add_ring(assumed) if actuators.ring else None
        self.cans: dict[str, VirtualCan] = {}
        self.adapters: dict[str, Adapter] = {}
        for bus, rows in actuators.can.items():
            self._add_can(bus, rows)
        self.commands.add(TimeCommands(self.robot, SteppedClock()))
        recorder = add_joints(self.robot, self.commands, plant, actuators, self._drives, urdf)
        self.control: RobotControl = _DirectControl(self.commands, recorder)
        self.cable: Cable | None = None

    def _add_ring(self, assumed: Sequence[str]) -> VirtualRing:
        rows = self._actuators.ring
        ring, erobs = build_ring(
            self.plant, rows, self._mountings, self._simulated_time, assume(assumed)
        )
        self._drives.update(zip(self._actuators.ring_joints, erobs, strict=True))
        self.robot.add(ring)
        self.commands.add(RingCommands(ring, self.plant, self.frame_faults))
        return ring

    def _add_can(self, bus: str, rows: Sequence[CanActuator]) -> None:
        can = build_motors(self.plant, self.joints, rows, self._mountings, self._simulated_time)
        self._drives.update(zip((row.joint for row in rows), can.motors, strict=True))
        self.robot.add(can)
        adapter = self._adapter_type(can.bus, self.robot.halt)
        self.commands.add(CanCommands(can, adapter), f"{bus}_")
        self.cans[bus], self.adapters[bus] = can, adapter

    def connect(self, scheduler: Scheduler) -> Cable | None:
        """Return the cable of the ring, if there is one, with the scheduler's time."""
        if self.ring is not None:
            self.cable = Cable(self.ring, self.robot, self.frame_faults, scheduler)
        return self.cable

    def listen(self, receive: Callable[[str, CanFrame, int], None]) -> None:
        """Have `receive` get every frame of the CAN buses: bus, frame and time [ns]."""
        for bus, can in self.cans.items():
            can.bus.attach(partial(receive, bus)).set(listens_only=True)

    @property
    def next_event(self) -> int:
        """See World: late answers of the ring."""
        return NEVER if self.cable is None else self.cable.server.next_answer

    def advance(self, end: int) -> int:
        """See World: it stops at frames that a socket of the host receives."""
        self.robot.run(end)
        if self.cable is not None:
            self.cable.server.settle()
        return self.robot.now


class _DirectControl(RobotControl):
    """The commands of the virtual robot without a channel."""

    def __init__(self, commands: CommandTable, recorder: Recorder) -> None:
        self._commands, self._recorder = commands, recorder

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def recorded(self) -> Recording:
        """See RobotControl."""
        return self._recorder.recording()

    def request(self, command: str, **arguments: object) -> Any:
        """See ControlClient."""
        try:
            plain = _over_channel(arguments) if arguments else {}
            result = self._commands.execute(command, plain)
        except (TypeError, ValueError) as error:
            raise TwinError(f"{command}: {error}") from error
        return _over_channel(result)


def _over_channel(value: Any) -> Any:
    """Return what JSON makes of `value`.

    Most requests have no arguments and return one number, which JSON does not change.
    """
    if type(value) in _UNCHANGED:
        return value
    return json.loads(json.dumps(value, default=to_json))
