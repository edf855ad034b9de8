"""Virtual CAN motors in this process, on stepped time or on the wall clock, for all families."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.robot.joints import JointLimits
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo
from humanoid_devices_can.can_system import CanSystem
from humanoid_devices_can.guard import guard_process
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig
from src.humanoid_devices.test.stepped import SteppedTime


@pytest.fixture
def can_rig() -> Iterator[MakeRig]:
    """Build rigs, and deactivate at the end those that a test left active.

    Only a component that reports an error may fail to be deactivated.
    """
    rigs: list[CanRig] = []

    def make(system: CanSystem, info: HardwareInfo, time: SteppedTime | None = None) -> CanRig:
        rigs.append(CanRig(system, info, time))
        return rigs[-1]

    yield make
    with ExitStack() as ends:  # all of them, also after an error of one
        ends.callback(_wait_for_guards)
        for rig in rigs:
            ends.callback(_come_down, rig)


def _wait_for_guards() -> None:
    """Wait for the guards that go on trying: the next test's adapter may have the same number."""
    while guard_process.left:
        guard_process.left.pop().wait()


def _come_down(rig: CanRig) -> None:
    try:
        rig.deactivate()
    except HardwareError:
        if rig.level < SafetyLevel.FAULT:
            raise


@pytest.fixture
def can_bench(tmp_path: Path) -> Iterator[MakeBench]:
    """Start virtual motors with these ids: `stepped`, or in wall time behind an interface."""
    with ExitStack() as stack:

        def start(family: str, model: str, ids: list[int], port: str = "stepped") -> CanBench:
            address = str(tmp_path / "can") if port == "slcan" else tmp_path.name
            return stack.enter_context(CanBench(family, model, ids, port, address))

        yield start


@pytest.fixture
def can_info(tmp_path: Path) -> MakeInfo:
    """Build the block of joints j0, j1, … with these ids.

    `block` and `joint` replace parameters of the block and of every joint, None leaves one out;
    `calibration`: direction and homing offset [rad] of each joint, identity by default.
    """

    def make(  # noqa: PLR0913
        ids: list[int],
        model: str,
        *,
        interface: str = "virtual",
        channel: str = "nowhere",
        calibration: list[tuple[int, float]] | None = None,
        update_rate: float = 50.0,
        block: dict[str, str | None] | None = None,
        joint: dict[str, str | None] | None = None,
    ) -> HardwareInfo:
        path = tmp_path / "prime_calibration.yaml"
        entries = calibration or [(1, 0.0)] * len(ids)
        path.write_text(
            "".join(
                f"j{i}: {{id: {id_}, direction: {d}, homing_offset: {o}}}\n"
                for i, (id_, (d, o)) in enumerate(zip(ids, entries, strict=True))
            )
        )
        parameters = {
            "interface": interface,
            "channel": channel,
            "calibration_file": str(path),
            **(block or {}),
        }

        def of_joint(id_: int) -> dict[str, str]:
            every = {"can_id": str(id_), "model": model, **(joint or {})}
            return {name: text for name, text in every.items() if text is not None}

        count = len(ids)
        return HardwareInfo(
            name="Wrists",
            plugin="",
            parameters={name: text for name, text in parameters.items() if text is not None},
            joints=tuple(JointInfo(f"j{i}", of_joint(id_), 0.0) for i, id_ in enumerate(ids)),
            limits=JointLimits(
                lower=np.full(count, -2.0),
                upper=np.full(count, 2.0),
                velocity=np.full(count, 3.0),
                effort=np.full(count, 8.0),
            ),
            update_rate=update_rate,
            urdf="<robot/>",
        )

    return make
