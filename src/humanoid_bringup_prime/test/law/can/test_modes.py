"""Every mode's gains at the joint of a Sito wrist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.rules.modes import Mode

CONTROLLERS = {
    Mode.DAMPING: "damping_controller",
    Mode.STANDBY: "standby_controller",
    Mode.REMOTE: "remote_policy_controller",
}


@pytest.fixture(scope="module")
def rig(make_rig: Any) -> Iterator[Any]:
    with make_rig("sito", "TA40-50") as rig:
        yield rig


def test_mode_has_the_gains_of_the_documents_at_the_joint(
    rig: Any, nominal: Any, measurement: Any, mode_table: Any
) -> None:
    rig.command(nominal.row)
    kp, kd = nominal.stiffness, nominal.damping
    held, loaded = measurement.held(rig.joints), measurement.loaded(rig.joints, nominal)
    for i, mounted in enumerate(("Sito", "Sito, reversed")):
        mode_table.add_mode(nominal, mounted, held.of(i), loaded.of(i))
    # At whole counts only the float32 of the gains rounds; under a load counts and time also round.
    np.testing.assert_allclose(held.stiffness, kp, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(held.damping, kd, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(loaded.stiffness, kp, rtol=0.01)
    np.testing.assert_allclose(loaded.damping, kd, rtol=0.01)


@pytest.mark.parametrize("mode", CONTROLLERS, ids=lambda mode: mode.name)
def test_shipped_controllers_ask_for_the_gains_of_the_documents(
    shipped: Any, nominal_of: Any, mode: Mode
) -> None:
    parameters = shipped[CONTROLLERS[mode]]
    asked = (parameters.get("stiffness", 0.0), parameters["damping"])
    assert asked == (nominal_of[mode].stiffness, nominal_of[mode].damping)
