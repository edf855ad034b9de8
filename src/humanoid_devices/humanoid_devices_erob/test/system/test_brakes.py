"""The stack is safe whether the drives have holding brakes or not."""

from __future__ import annotations

import pytest

from humanoid_control_common.modes import Mode

INIT, OP = 1, 8
HEALTHY = 5687


@pytest.mark.parametrize("brake", [True, False])
def test_a_holding_brake_is_released_in_operation_and_holds_before_and_after(
    make_bench, brake: bool
) -> None:
    bench = make_bench(2, joints="arms", assume={"brake": brake})
    bench.control.advance(0.5)
    held = bench.of_drives("joint_position")
    bench.activate()
    assert bench.of_drives("al_state") == [OP] * 2
    if brake:  # gravity had half a second and the bring-up to turn the joints
        assert bench.of_drives("joint_position") == pytest.approx(held, abs=0.05)
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.command.stiffness[:] = 20.0
    bench.tick(50)
    assert bench.of_drives("statusword") == [HEALTHY] * 2
    before = bench.of_drives("joint_position")
    for slave in range(2):
        bench.control.external_torque(slave, 3.0)
    bench.tick(50)
    moved = [b - a for a, b in zip(before, bench.of_drives("joint_position"), strict=True)]
    assert min(map(abs, moved)) > 0.05  # no brake is left engaged in operation
    bench.system.on_deactivate()
    assert bench.of_drives("gate") == [0] * 2
    assert bench.of_drives("al_state") == [INIT] * 2
    assert bench.of_drives("error") == [0] * 2
    after = bench.of_drives("joint_position")
    bench.control.advance(1.0)
    fell = [b - a for a, b in zip(after, bench.of_drives("joint_position"), strict=True)]
    assert (max(map(abs, fell)) < 0.001) is brake
    assert bench.faults() == []
