"""After any bytes on the wire, the ring answers the next valid frame."""

import struct
from random import Random

import pytest

from humanoid_devices_erob.protocol.frame import Command, Datagram, encode_frame, physical
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.erob.build import build_robot, prime_arms
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.scheduler import Scheduler

MUTATIONS = [5_000, pytest.param(1_000_000, marks=pytest.mark.soak)]
REGISTERS = [0x0010, 0x0120, 0x0500, 0x0502, 0x0600, 0x0800, 0x0808, 0x0810, 0x0818, 0x0900,
             0x0910, 0x0920, 0x0980, 0x0990, 0x09A0, 0x1000, 0x1080, 0x1100, 0x1400]  # fmt: skip


def mapping(random: Random) -> Datagram:
    """Return an FMMU with a random map."""
    logical, length = random.randrange(64), random.choice([0, 1, 3, 8, 60, 0xFFFF])
    start = random.choice([0x0130, 0x0805, 0x1000, 0x1100, 0x1400, 0x2FFE, 0xFFFE])
    bits = random.randrange(10), random.randrange(10), random.randrange(10)
    line = struct.pack("<IHBBHBBBxxx", logical, length, *bits[:2], start, bits[2],
                       random.randrange(4), 1)  # fmt: skip
    fmmu = random.randrange(10)
    return Datagram(Command.FPWR, physical(0x1001 + random.randrange(3), 0x0600 + 16 * fmmu), line)


def plausible(random: Random) -> bytes:
    """Return a frame with valid commands on existing registers, and random data."""
    datagrams = []
    for _ in range(random.randint(1, 4)):
        if random.random() < 0.15:
            datagrams.append(mapping(random))
            continue
        station = random.choice([0, -1 & 0xFFFF, 0x1001, 0x1002, 0x1003, 1])
        address = physical(station, random.choice(REGISTERS) + random.choice([0, 0, 0, 1, 4]))
        if random.random() < 0.3:
            address = random.choice([0, 8, 24, 30, 0xFFFFFFF0])
        size = random.choice([0, 1, 2, 4, 6, 8, 16, 32, 60, 128])
        data = bytes(size) if random.random() < 0.3 else random.randbytes(size)
        datagrams.append(Datagram(random.randint(0, 15), address, data))
    return encode_frame(datagrams)


def mutated(random: Random, frame: bytes) -> bytearray:
    changed = bytearray(frame)
    for _ in range(random.choice([0, 1, 1, 2, 5])):
        changed[random.randrange(12, len(changed))] = random.randrange(256)
    if random.random() < 0.1:
        del changed[random.randrange(len(changed)) :]
    return changed


def erob_master(new_master):
    """A master with three real drives on Prime's joints."""
    master, robot, simulated_time = new_master(3), build_robot(prime_arms(3)), SimulatedTime()
    master.ring = VirtualRing(robot.drives, simulated_time)
    master.world = Scheduler(robot.plant, simulated_time)
    master.world.add(master.ring)
    return master


@pytest.mark.parametrize("mutations", MUTATIONS)
@pytest.mark.parametrize("drives", ["stub", "erob"])
def test_a_ring_survives_mutated_frames(new_master, drives, mutations):
    random = Random(20250101)
    master = new_master(3) if drives == "stub" else erob_master(new_master)
    master.operational()
    for number in range(mutations):
        frame = mutated(random, plausible(random))
        length = len(frame)
        assert master.ring.answer(memoryview(frame))
        assert len(frame) == length
        if number % 4 == 0:
            master.wait(random.choice([0.0, 0.0001, 0.001, 0.003]))
        if number % 1000 == 0:
            alive = master.send(Datagram(Command.BRD, physical(0, 0), bytes(2)))[0]
            assert alive.counter == 3
    for slave in master.ring.slaves:
        slave.power(True)
    master.ring.chain.update()
    master.operational()
    assert master.exchange()[0] == 9


@pytest.mark.parametrize("seed", range(4))
def test_a_ring_survives_noise(new_master, seed):
    random = Random(seed)
    master = new_master(2)
    for _ in range(500):
        noise = bytearray(random.randbytes(random.randrange(1515)))
        if random.random() < 0.8 and len(noise) > 16:
            noise[12:14] = b"\x88\xa4"
            noise[15] = noise[15] & 0x07 | 0x10
        master.ring.answer(memoryview(noise))
    assert master.send(Datagram(Command.BRD, physical(0, 0), bytes(2)))[0].counter == 2
