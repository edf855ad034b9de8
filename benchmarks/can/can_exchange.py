"""Measure `read` and `write` of the four wrists on CAN: enabled Sito motors that follow commands.

The motors run in a process of their own, behind a serial adapter (slcan). The two threads of the
component run meanwhile. The mock component with as many joints is measured at the same rates.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.support.figures import Figure, arguments, figure, report
from benchmarks.support.processes import BenchmarkError, running
from humanoid_control_common.machine.realtime import calm_interpreter
from humanoid_control_common.robot.joints import JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_controller_manager.hardware_component import (
    HardwareComponent,
    HardwareInfo,
    JointInfo,
)
from humanoid_devices_sito.sito_system import SitoSystem

IDS = (22, 23, 38, 39)
MODEL = "TA40-50"
RATES = (50, 200, 1000)  # [Hz]
SECONDS = 10.0  # at each rate
WARM_UP = 0.5  # [s] left out


def measure(component: HardwareComponent, info: HardwareInfo, seconds: float) -> dict[str, Figure]:
    """Return the times of `read`, of `write` and of both, with the component in operation."""
    count = len(info.joints)
    state, command = JointState(count), JointCommand(count)
    component.on_configure(info)
    component.on_activate(state)
    try:
        samples = _paced(component, state, command, info.update_rate, seconds)
        level = component.safety().level
        if level >= SafetyLevel.FAULT:
            raise BenchmarkError(f"{info.name}: {component.safety().message}")
    finally:
        component.on_deactivate()
    samples = samples[round(WARM_UP * info.update_rate) :]
    return {
        "read": figure(samples[:, 0], "us", 1e6),
        "write": figure(samples[:, 1], "us", 1e6),
        "read + write": figure(samples.sum(axis=1), "us", 1e6),
    }


def _paced(
    component: HardwareComponent,
    state: JointState,
    command: JointCommand,
    rate: float,
    seconds: float,
) -> np.ndarray:
    """Return the durations [s] of each `read` and `write`, shape (ticks, 2)."""
    period = 1.0 / rate
    ticks = round((WARM_UP + seconds) * rate)
    samples = np.empty((ticks, 2))
    clock = time.perf_counter
    command.stiffness[:], command.damping[:] = 10.0, 0.5  # [Nm/rad], [Nm s/rad]
    gc.collect()
    start = time.monotonic()
    for i in range(ticks):
        time.sleep(max(0.0, start + i * period - time.monotonic()))
        now = i * period
        begin = clock()
        component.read(state, now, period)
        between = clock()
        # Every tick has another command: a component need not send an equal one again.
        command.position[:] = 0.1 * np.sin(2.0 * np.pi * now)
        ready = clock()
        component.write(command, now, period)
        samples[i] = between - begin, clock() - ready
    return samples


def block(name: str, rate: float, parameters: dict[str, str]) -> HardwareInfo:
    """Return the <ros2_control> block of the four wrists."""
    ones = np.ones(len(IDS))
    return HardwareInfo(
        name=name,
        plugin="",
        parameters=parameters,
        joints=tuple(JointInfo(f"wrist_{i}", {"can_id": str(i), "model": MODEL}, 0.0) for i in IDS),
        limits=JointLimits(-2.0 * ones, 2.0 * ones, 3.0 * ones, 8.0 * ones),
        update_rate=rate,
        urdf="",
    )


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    seconds = 0.5 if options.quick else SECONDS
    figures: dict[str, Figure] = {}
    calm_interpreter()
    with contextlib.ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(TemporaryDirectory(prefix="hc_bench_")))
        line, calibration = folder / "can", folder / "calibration.yaml"
        ids = ",".join(map(str, IDS))
        motors = cleanup.enter_context(
            running(
                [
                    sys.executable,
                    "-m",
                    "humanoid_twin.can.main",
                    str(line),
                    "--ids",
                    ids,
                    "--model",
                    MODEL,
                    "--realtime",
                ]
            )
        )
        motors.wait_for("can: ")  # the adapter's first answer
        calibration.write_text(
            "".join(f"wrist_{i}: {{id: {i}, direction: 1, homing_offset: 0.0}}\n" for i in IDS)
        )
        way = {
            "interface": "slcan",
            "channel": str(line),
            "calibration_file": str(calibration),
        }
        for rate in RATES[:1] if options.quick else RATES:
            for name, component, parameters in (
                ("Sito", SitoSystem(), way),
                ("mock", GenericSystem(), {}),
            ):
                info = block(name, rate, parameters)
                for duty, value in measure(component, info, seconds).items():
                    figures[f"{name}, {rate} Hz: {duty}"] = value
    report("CAN: what the loop waits for, 4 wrists", figures, options.json)


if __name__ == "__main__":
    main()
