"""A ring on a network interface: everything between the wire and the commands about it."""

from dataclasses import dataclass
from pathlib import Path
from random import Random

from humanoid_twin.assembly import Assembly
from humanoid_twin.ethercat.capture import Capture
from humanoid_twin.ethercat.commands import RingCommands
from humanoid_twin.ethercat.lock import InterfaceLock
from humanoid_twin.ethercat.losses import Losses
from humanoid_twin.ethercat.port import PacketPort
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.ethercat.server import RingServer


@dataclass(frozen=True, slots=True)
class RingPlace:
    """Where a ring answers, and what is kept of it."""

    interface: str
    capture: Path | None = None  # pcap file that gets every frame
    seed: int = 0  # of random frame losses


def add_ring(process: Assembly, ring: VirtualRing, place: RingPlace) -> RingCommands:
    """Make a ring part of a process; drive k moves joint k of its plant.

    Raises RingError if the interface can't be used, OSError if the capture can't be written.
    """
    cleanup = process.cleanup
    lock = InterfaceLock(place.interface)
    cleanup.callback(lock.close)
    port = PacketPort(place.interface)
    cleanup.callback(port.close)
    capture = Capture(place.capture) if place.capture else None
    if capture:
        cleanup.callback(capture.close)
    losses = Losses(Random(place.seed))
    commands = RingCommands(ring, process.world.plant, losses)
    wire = RingServer(ring, process.world, port, process.clock, losses, capture)
    process.add(ring, wire, commands)
    return commands
