"""Measure the cost of the virtual robot: one millisecond, its process, and the load of its bus.

A step is one millisecond of ten drives on the ring, four motors on the bus and the body they turn,
all enabled with the gains of STANDBY; it is compared with MuJoCo's own step of the same body. CPU
is that of the robot's process, in percent of one core, while a host enables the four wrists, sends
each a command per period and gets two frames of feedback; the ring gets no frames.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
from test_support.twin.prime_actuators import CAN_JOINTS, JOINTS, PRIME, ROTORS

from benchmarks.support.figures import Figure, arguments, figure, ratio, report, single
from humanoid_devices_sito.codec import (
    Command,
    ControlMode,
    Gains,
    MessageType,
    SelectMode,
    identifier,
)
from humanoid_twin.can.adapters.lawicel import LawicelAdapter
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.ethercat.firmware import AlState
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.physics.mujoco_plant import MujocoPlant
from humanoid_twin.robot.main import build_drives, build_motors
from humanoid_twin.scheduler import Scheduler
from humanoid_twin.testing import Robot, robot
from prime_description import expand

RATES = (50, 200)  # [Hz]
SECONDS = 10.0
STEPS = 5000
MILLISECOND = 1_000_000  # [ns]
STANDBY = Gains(20 / 688.58, 2 / 1.125)  # 20 Nm/rad, 2 Nm s/rad (actuator documents)
OPENING = b"C\rS8\rO\r"  # closed, 1 Mbit/s, open (LAWICEL manual)


def line(device: int, kind: MessageType, payload: bytes) -> bytes:
    """Return a frame as a line of the serial port."""
    return b"T%08X8%s\r" % (identifier(device, kind), payload.hex().encode())


def enabling(rate: int) -> bytes:
    """Return the frames that enable the wrists, with feedback at `rate` [Hz]."""
    interval = 1000 // rate
    mode = SelectMode(ControlMode.MIT, interval, interval, 0)
    return b"".join(
        line(device, MessageType.GAINS, STANDBY.encode())
        + line(device, MessageType.SELECT_MODE, mode.encode())
        for device in CAN_JOINTS
    )


def commands(counts: int) -> bytes:
    """Return one period's commands: all wrists to `counts`."""
    payload = Command(0, 0, counts).encode()
    return b"".join(line(device, MessageType.COMMAND, payload) for device in CAN_JOINTS)


def steps(urdf: str, count: int) -> tuple[list[float], list[float]]:
    """Return durations [s] of milliseconds of the robot, and of MuJoCo's step after each."""
    plant, simulated_time = MujocoPlant(urdf, ROTORS), SimulatedTime()
    world, drives = Scheduler(plant, simulated_time), build_drives(plant, PRIME.ring, {})
    wrists = build_motors(plant, JOINTS, PRIME.can["can"], {}, simulated_time)
    world.add(VirtualRing(drives, simulated_time))
    world.add(wrists)
    for drive in drives:
        drive.al_state_changed(AlState.OP)
        drive.gains.gate = 1
        for name, value in (("position", 515), ("velocity", 19), ("integral", 0)):
            drive.gains.write(name, value)  # type: ignore[arg-type]
        for word in (0x06, 0x07, 0x0F):
            drive.controlword = word
    host = LawicelAdapter(wrists.bus, lambda _line: True)
    host.feed(OPENING + enabling(RATES[-1]), 0)
    bare = mujoco.MjData(plant.model)
    whole, alone = [], []
    for step in range(count):
        if step % 5 == 0:  # 200 Hz
            host.feed(commands(round(1000 * math.sin(step / 500))), simulated_time.now)
        begun = time.perf_counter()
        world.advance(simulated_time.now + MILLISECOND)
        middle = time.perf_counter()
        mujoco.mj_step(plant.model, bare)
        whole.append(middle - begun)
        alone.append(time.perf_counter() - middle)
    return whole, alone


@contextmanager
def host(device: Path) -> Iterator[int]:
    """Open a serial line that a thread reads. Yield its file descriptor."""
    descriptor = os.open(device, os.O_RDWR | os.O_NOCTTY)

    def drain() -> None:
        with suppress(OSError):  # the robot's process has ended
            while os.read(descriptor, 1 << 16):
                pass

    try:
        os.write(descriptor, OPENING)
        threading.Thread(target=drain, daemon=True).start()
        yield descriptor
    finally:
        os.write(descriptor, b"C\r")


def processor_time(pid: int) -> float:
    """Return the processor time of a process [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def observe(
    found: Robot, seconds: float, period: float, send: bytes, line: int
) -> dict[str, Figure]:
    """Measure CPU, pace and CAN load while `send` is called every `period` [s]."""
    control, pid = found.control, found.process.pid
    before, used = control.can_statistics(), processor_time(pid)
    begun = due = time.monotonic()
    while due - begun < seconds:
        if send:
            os.write(line, send)
        due += period
        time.sleep(max(0.0, due - time.monotonic()))
    used, passed = processor_time(pid) - used, time.monotonic() - begun
    after = control.can_statistics()
    simulated = after["time"] - before["time"]
    return {
        "CPU": single(100 * used / passed, "%"),
        "real-time factor": single(simulated / passed, "x"),
        "CAN load": single(100 * (after["busy"] - before["busy"]) / simulated, "%"),
    }


def process(urdf: Path, seconds: float) -> dict[str, Figure]:
    """Measure the robot's process without a host, and with a host at each rate."""
    figures: dict[str, Figure] = {}
    with robot(urdf) as found, host(found.can) as descriptor:
        for rate in (0, *RATES):
            if rate:
                for word in enabling(rate).splitlines(keepends=True):
                    os.write(descriptor, word)
                    time.sleep(0.002)
            period = 1 / rate if rate else 0.1
            seen = observe(found, seconds, period, commands(500) if rate else b"", descriptor)
            title = f"host at {rate} Hz" if rate else "no host"
            figures |= {f"{title}: {name}": value for name, value in seen.items()}
    return figures


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = arguments(__doc__).parse_args(words)
    urdf = expand({})
    whole, alone = steps(urdf, 300 if options.quick else STEPS)
    figures = {
        "step, whole robot": figure(whole, "us", 1e6, tail=True),
        "step, body alone": figure(alone, "us", 1e6, tail=True),
    }
    figures["step, ratio"] = ratio(*figures.values())
    with TemporaryDirectory(prefix="hc_benchmark_") as folder:
        path = Path(folder) / "prime.urdf"
        path.write_text(urdf, "utf-8")
        figures |= process(path, 0.5 if options.quick else SECONDS)
    report("The virtual robot", figures, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
