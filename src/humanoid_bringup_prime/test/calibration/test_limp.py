"""One drive at a time is limp with damping, and at the end every drive has its former registers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.impedance.values import ModeInForce

LIMP = (0, 270, 0, 1)  # damping as the factory has it

REGISTERS = (0x2382, 1), (0x2381, 1), (0x2381, 2), (0x2383, 0)


def test_the_selected_drive_is_damped_only_and_the_others_stay_as_they_were(
    bench: Any, factory: Any
) -> None:
    bench.select("joint1")
    assert bench.limp_drives.limp_joint == "joint1"
    assert bench.registers() == [factory, LIMP, factory]
    assert bench.limp_drives.message == ""
    assert bench.limp_drives.touched == ["joint1"]


def test_selection_of_no_joint_restores_all_drives(bench: Any, factory: Any) -> None:
    bench.select("joint1").select("")
    assert bench.registers() == [factory] * 3
    assert bench.limp_drives.released
    assert bench.limp_drives.limp_joint == ""


@pytest.mark.parametrize("stores", [True, False])
def test_selected_drive_is_limp_even_if_it_stores_writes_behind_its_gate(
    make_bench: Any, factory: Any, stores: bool
) -> None:
    bench = make_bench(stores_behind_its_gate=stores)
    bench.select("joint0")
    assert bench.drives[0].acting == LIMP[:3]
    bench.select("")
    assert bench.registers() == [factory] * 3


def test_the_damping_is_never_less_than_a_safe_one(bench: Any) -> None:
    """The drives are as an impedance manager stopped in ZERO_TORQUE leaves them."""
    for drive in bench.drives:
        drive.values.update(dict.fromkeys(drive.values, 0))
    bench.select("joint2")
    assert bench.drives[2].row == (0, 56, 0, 1)
    assert all(velocity >= 56 for row in bench.acting for _, velocity, _ in row)
    bench.select("")
    assert bench.registers() == [(0, 0, 0, 0)] * 3


@given(st.lists(st.sampled_from(["", "joint0", "joint1", "joint2"]), max_size=8), st.data())
def test_never_two_drives_are_off_their_factory_gains_at_once_and_none_undamped(
    make_bench: Any, factory: Any, selections: list[str], data: st.DataObject
) -> None:
    bench = make_bench(stores_behind_its_gate=data.draw(st.booleans()))
    for joint in selections:
        bench.limp_drives.select(joint)
        bench.run(data.draw(st.sampled_from([0.0, 0.02, 0.04, 0.3])))
    bench.select("")
    assert bench.registers() == [factory] * 3
    assert bench.limp_drives.released
    for row in bench.acting:
        assert sum(gains != factory[:3] for gains in row) <= 1
        assert all(gains[1] >= 56 for gains in row)


def test_a_gate_left_open_is_closed_before_anything_else(bench: Any) -> None:
    """The drives are as kill -9 leaves them."""
    bench.drives[0].values.update({(0x2382, 1): 0, (0x2381, 2): 0, (0x2383, 0): 1})
    bench.select("joint1")
    assert [row[3] for row in bench.registers()] == [0, 1, 0]


def test_no_batch_is_sent_before_joint_states_flow(bench: Any) -> None:
    bench.flowing = False
    bench.select("joint0")
    assert bench.batches == []
    assert bench.limp_drives.message == "waiting for /prime/joint_states"
    bench.flowing = True
    assert bench.run(0.5).limp_drives.limp_joint == "joint0"


@pytest.mark.parametrize(
    ("stated_mode", "message"),
    [
        (None, "waiting for a statement on /control_mode"),
        (ModeInForce(Mode.STANDBY, 4), "STANDBY is in force: go to ZERO_TORQUE or DAMPING"),
    ],
)
def test_no_batch_is_sent_outside_of_the_safe_modes(
    bench: Any, stated_mode: Any, message: str
) -> None:
    bench.stated_mode = stated_mode
    bench.select("joint0")
    assert bench.batches == []
    assert bench.limp_drives.message == message


def test_batches_carry_mode_and_number_and_end_with_the_gate(bench: Any) -> None:
    bench.select("joint0")
    assert all(batch.in_force == ModeInForce(Mode.ZERO_TORQUE, 4) for batch in bench.batches)
    assert all(0.0 < batch.valid_until - batch.sent <= bench.gate.limit for batch in bench.batches)


def test_a_switch_that_overtakes_a_batch_costs_a_try(bench: Any) -> None:
    bench.in_force = ModeInForce(Mode.DAMPING, 5)
    bench.select("joint0")
    assert "not in force" in bench.limp_drives.message
    bench.stated_mode = bench.in_force
    assert bench.run(2.0).limp_drives.limp_joint == "joint0"


def test_a_drive_that_does_not_answer_is_named_and_delays_only_itself(
    bench: Any, factory: Any
) -> None:
    bench.drives[2].dead = True
    bench.run(0.2)
    assert bench.limp_drives.message.startswith("joint2: slave 2")
    bench.limp_drives.select("joint0")
    assert bench.run(3.0).limp_drives.limp_joint == "joint0"
    bench.limp_drives.select("")
    bench.run(3.0)
    assert bench.drives[0].row == factory
    assert bench.limp_drives.released


def test_a_limp_drive_that_cannot_be_restored_is_reported(bench: Any) -> None:
    bench.select("joint0")
    bench.drives[0].dead = True
    bench.limp_drives.select("")
    bench.run(3.0)
    assert not bench.limp_drives.released
    assert bench.limp_drives.touched == ["joint0"]
    assert bench.limp_drives.message.startswith("joint0: slave 0")


def test_no_other_drive_becomes_limp_while_one_cannot_be_restored(bench: Any) -> None:
    bench.select("joint0")
    bench.drives[0].dead = True
    bench.limp_drives.select("joint1")
    bench.run(3.0)
    assert bench.drives[1].row[3] == 0
    bench.drives[0].dead = False
    assert bench.run(3.0).limp_drives.limp_joint == "joint1"


def test_a_register_that_cannot_be_restored_matters_less_than_the_gate(
    bench: Any, factory: Any
) -> None:
    bench.select("joint0")
    bench.drives[0].ignores = {(0x2381, 2)}  # the integral stays 0
    bench.limp_drives.select("")
    bench.run(3.0)
    assert bench.drives[0].row == (factory[0], factory[1], 0, 0)
    assert bench.limp_drives.released


def test_an_answer_that_never_comes_is_given_up(bench: Any) -> None:
    bench.run(0.2)
    bench.answering = False
    bench.limp_drives.select("joint0")
    bench.run(1.2)
    assert bench.limp_drives.message == "no answer within 1 s"
    bench.answering = True
    assert bench.run(2.0).limp_drives.limp_joint == "joint0"


def test_a_drive_that_became_stiff_is_not_softened_again_without_a_request(
    bench: Any, factory: Any
) -> None:
    bench.select("joint0")
    bench.drives[0].values = dict(zip(REGISTERS, factory, strict=True))
    bench.run(2.5)
    assert bench.registers() == [factory] * 3
    assert bench.limp_drives.selected == ""
    assert bench.limp_drives.message.startswith("joint0 is not limp any more")
    assert bench.select("joint0").limp_drives.limp_joint == "joint0"


def test_drive_is_not_limp_after_an_interruption_without_a_new_selection(
    bench: Any, factory: Any
) -> None:
    """The control process was restarted: gate closed, registers still those of the calibration."""
    bench.select("joint0")
    bench.flowing = False
    bench.run(3.0)
    bench.drives[0].values[0x2383, 0] = 0
    bench.flowing = True
    bench.run(1.0)
    assert bench.registers() == [factory] * 3
    assert "no joint states for a while; select it again" in bench.limp_drives.message


def test_selection_of_a_joint_without_an_erob_is_refused(bench: Any) -> None:
    with pytest.raises(ConfigError, match="'wrist' is no eRob joint; these are: joint0, joint1"):
        bench.limp_drives.select("wrist")
