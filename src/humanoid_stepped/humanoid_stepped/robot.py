"""A robot on one clock: every process of its bring-up, and the virtual robot under them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.options import Process as PlannedProcess
from humanoid_bringup.plan import plan
from humanoid_bringup.robot_package import DEFAULT, find_robot
from humanoid_bringup_prime.impedance.node import ImpedanceNode
from humanoid_control_common.configuration.config import Document, read_yaml
from humanoid_control_common.machine.machine import Machine
from humanoid_controller_manager.hardware_component import HardwareComponent
from humanoid_controller_manager.ros.process import control_process
from humanoid_controller_manager.ros.process.end_requests import EndRequests
from humanoid_controller_manager.ros.process.ros_session import spin_until
from humanoid_controllers.mode_manager.mode_manager_node import ModeManagerNode
from humanoid_devices_can.bus.bus import Bus as CanBus
from humanoid_devices_can.bus.bus import BusSettings
from humanoid_devices_can.can_system import CanSystem
from humanoid_devices_can.guard.channel import GuardJob
from humanoid_devices_can.guard.claim import Claim
from humanoid_devices_can.host import CanHost
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_recording.black_box.node import BlackBoxNode
from humanoid_stepped.can_guard import NAME, Claims, SteppedGuard
from humanoid_stepped.processes import StackProcess
from humanoid_stepped.records import MemoryRecords, MemoryStore
from humanoid_stepped.ros.bus import Bus
from humanoid_stepped.ros.session import SteppedSession
from humanoid_stepped.scheduler import Process, Scheduler
from humanoid_stepped.stepped_machine import SteppedMachine
from humanoid_stepped.virtual_robot import VirtualRobot
from humanoid_stepped.wires.ethercat import MemoryMaster
from humanoid_twin.mounting import Mounting
from humanoid_twin.robot.actuators import load_actuators

MANAGER: Final = "controller_manager"
CONTROL, IMPEDANCE, BLACK_BOX = "control", "impedance", "black_box"  # labels in the plan
Log = Callable[[str, str, str], None]  # takes process, severity and text of a line


class SteppedRobot:
    """All processes of `hc up twin` but the viewer, and the virtual robot.

    Args:
        seed: decides every order, latency and loss.
        folder: for the parameter files, and the black box's.
        options: of the bring-up; their buses are in memory.
        assumed: facts about the drives, each NAME=VALUE.
        mountings: direction and offset of each drive on its joint.
    """

    def __init__(
        self,
        seed: int,
        folder: Path,
        options: Options | None = None,
        assumed: Sequence[str] = (),
        mountings: Mapping[str, Mounting] | None = None,
    ) -> None:
        options = options or stepped_options()
        planned = {it.label: it for it in plan(options, folder)}
        self._files = {label: _documents(it) for label, it in planned.items()}
        self.urdf = _urdf(self._files[CONTROL])
        actuators = load_actuators(options.robot.drives.virtual_robot)
        losses = Random(f"{seed} ring")
        self.virtual = VirtualRobot(
            self.urdf, actuators, losses, options.can_interface, assumed, mountings
        )
        self.scheduler = Scheduler(Random(f"{seed} order"), self.virtual)
        self.cable = self.virtual.connect(self.scheduler)
        self.bus = Bus(self.scheduler)
        self.log: list[Log] = []
        self.records = MemoryRecords()
        self.claims = {bus: Claims() for bus in self.virtual.adapters}
        self.black_box_files = MemoryStore(Path("/black_box"))
        self.guards: dict[str, SteppedGuard] = {}  # the latest of each CAN bus
        mains = {
            BLACK_BOX: self._run_black_box,
            IMPEDANCE: self._run_impedance,
            CONTROL: self._run_control,
        }
        self.processes = {
            label: StackProcess(label, self.session, main)
            for label, main in mains.items()
            if label in planned
        }

    def start(self) -> None:
        """Start all processes that do not run."""
        for process in self.processes.values():
            process.start()

    def session(self, process: Process) -> SteppedSession:
        """Return a session for a process, with the parameters of the bring-up, if it has any."""
        machine = SteppedMachine(self.scheduler, process)
        files = self._files.get(process.name, ())
        return SteppedSession(machine, self.bus, files, partial(self._logged, process.name))

    def _logged(self, process: str, severity: str, text: str) -> None:
        for log in self.log:
            log(process, severity, text)

    def _run_control(self, session: SteppedSession, requests: EndRequests) -> int:
        machine = session.machine
        records = self.records.of_process(machine.process)
        make = partial(self._component, machine)
        files = self._files[CONTROL]
        companions = [ModeManagerNode]
        return control_process.run_in(session, companions, files, requests, make, records)

    def _run_impedance(self, session: SteppedSession, requests: EndRequests) -> int:
        manager = ImpedanceNode(self._files[IMPEDANCE], session)
        spin_until(session, manager.node, partial(_ends, requests))
        return 0

    def _run_black_box(self, session: SteppedSession, requests: EndRequests) -> int:
        black_box = BlackBoxNode(
            self._files[BLACK_BOX], session, self.records, lambda *_: self.black_box_files
        )
        spin_until(session, black_box.node, partial(_ends, requests))
        black_box.box.finish()
        return 0

    def _component(
        self, machine: SteppedMachine, plugin: type[HardwareComponent]
    ) -> HardwareComponent:
        cable = self.cable
        if plugin is ErobSystem and cable is not None:
            return ErobSystem(
                machine, open_master=lambda timeout: MemoryMaster(timeout, cable, machine)
            )
        if issubclass(plugin, CanSystem):
            return plugin(host=self._can_host(machine))
        return plugin()

    def _can_host(self, machine: SteppedMachine) -> CanHost:
        """Return the host's side of all CAN buses; the channel of a bus is its name."""

        def open_bus(settings: BusSettings) -> CanBus:
            return self.virtual.adapters[settings.channel].open(settings, machine)

        def claim(bus: BusSettings, waiting: Machine) -> Claim:
            return self.claims[bus.channel].of_process(machine.process)(bus, waiting)

        def start_guard(job: GuardJob, _claim: Claim | None) -> SteppedGuard:
            own, bus = SteppedMachine(self.scheduler, Process(NAME)), job.bus.channel
            self.claims[bus].inherit(own.process)
            open_shared = partial(self.virtual.adapters[bus].open, machine=own, shared=True)
            found = SteppedGuard(job, machine.process, own, open_shared)
            self.guards[bus] = found
            return found

        return CanHost(machine=machine, open_bus=open_bus, claim=claim, start_guard=start_guard)


def stepped_options(
    robot: str = DEFAULT, can_interface: str = "socketcan", **others: Any
) -> Options:
    """Return the options of the shipped bring-up of a robot, with the buses in memory.

    `can_interface`: kind of the CAN adapters, "socketcan" or "slcan"; `others`: further fields of
    Options.
    """
    package = find_robot(robot)
    return Options(
        backend=Backend.REAL,
        robot=package,
        ethercat_interface="ring" if package.ring else "",
        can_interface=can_interface,
        can_channel=",".join(f"{bus}={bus}" for bus in package.can_buses),
        viewer=False,
        **others,
    )


def _ends(requests: EndRequests) -> bool:
    return requests.in_order or requests.at_once


def _documents(process: PlannedProcess) -> Sequence[Document]:
    return [read_yaml(file) for file in process.parameter_files]


def _urdf(files: Sequence[Document]) -> str:
    """Return the robot's description among the parameters of the control process."""
    sections = [file.content[MANAGER] for file in files if MANAGER in file.content]
    found = [it["ros__parameters"].get("robot_description") for it in sections]
    return next(str(text) for text in reversed(found) if text)
