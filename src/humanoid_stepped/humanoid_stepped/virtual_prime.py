"""Prime's virtual robot in this process: both buses, the drives and the physics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, cast

from humanoid_stepped.scheduler import NEVER, Scheduler
from humanoid_stepped.wires.can import MemoryAdapter
from humanoid_stepped.wires.ethercat import Cable
from humanoid_twin.assumptions import assume
from humanoid_twin.can.adapters.slcan import SlcanPort
from humanoid_twin.can.attach import PREFIX
from humanoid_twin.can.commands import CanCommands
from humanoid_twin.clock import Moment, SteppedClock
from humanoid_twin.control.client import to_json
from humanoid_twin.control.commands import CommandTable, JointCommands, TimeCommands
from humanoid_twin.errors import TwinError
from humanoid_twin.ethercat.commands import RingCommands
from humanoid_twin.ethercat.losses import Losses
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.mounting import EncoderCommands, Mounting
from humanoid_twin.physics.loads import Loads
from humanoid_twin.physics.mujoco_plant import MujocoPlant
from humanoid_twin.physics.recorder import Recorder, RecorderCommands, Recording
from humanoid_twin.prime import CAN_JOINTS, JOINTS, RING_JOINTS, ROTORS
from humanoid_twin.robot.control import RobotControl
from humanoid_twin.robot.main import Drives, build_drives, build_wrists
from humanoid_twin.scheduler import Scheduler as RobotScheduler


class VirtualPrime:
    """The virtual robot as a World of the scheduler.

    Args:
        urdf: geometry and masses.
        random: draws the losses of the ring.
        assumed: facts about the drives, each NAME=VALUE.
        mountings: direction and offset of each drive on its joint.
    """

    def __init__(
        self,
        urdf: str,
        random: Random,
        assumed: Sequence[str] = (),
        mountings: Mapping[str, Mounting] | None = None,
    ) -> None:
        self.plant = plant = MujocoPlant(urdf, ROTORS)
        moment, facts, mounted = Moment(), assume(assumed), mountings or {}
        self.robot = RobotScheduler(plant, moment)
        erobs = build_drives(plant, mounted, facts.drive)
        self.ring = VirtualRing(erobs, moment, facts.slave)
        self.can = build_wrists(plant, mounted, moment)
        self.robot.add(self.ring)
        self.robot.add(self.can)
        self.adapter = MemoryAdapter(self.can.bus, self.robot.halt)
        self.losses = Losses(random)
        self.commands = CommandTable()
        self.commands.add(TimeCommands(self.robot, SteppedClock()))
        self.commands.add(JointCommands(plant, JOINTS))
        self.commands.add(RingCommands(self.ring, plant, self.losses))
        # The adapter has what the commands use of a port.
        self.commands.add(CanCommands(self.can, cast(SlcanPort, self.adapter)), PREFIX)
        drives: Drives = {
            **dict(zip(RING_JOINTS, erobs, strict=True)),
            **dict(zip(CAN_JOINTS.values(), self.can.motors, strict=True)),
        }
        recorder = Recorder(plant, JOINTS, [drives[joint] for joint in JOINTS])
        self.robot.on_step = recorder.stepped
        self.commands.add(RecorderCommands(recorder))
        self.commands.add(Loads(plant.model, plant.data, urdf))
        self.commands.add(EncoderCommands({joint: it.shaft for joint, it in drives.items()}))
        self.control: RobotControl = _DirectControl(self.commands, recorder)
        self.cable: Cable | None = None

    def connect(self, scheduler: Scheduler) -> Cable:
        """Return the ring's cable, with the scheduler's time."""
        self.cable = Cable(self.ring, self.robot, self.losses, scheduler)
        return self.cable

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
        plain = json.loads(json.dumps(arguments, default=to_json))
        try:
            result = self._commands.execute(command, plain)
        except (TypeError, ValueError) as error:
            raise TwinError(f"{command}: {error}") from error
        return json.loads(json.dumps(result, default=to_json))
