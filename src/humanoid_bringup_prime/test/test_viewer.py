"""Simulation, control process and viewer together, operated in a real browser."""

from __future__ import annotations

import re

import pytest
from humanoid_control_msgs.msg import ControlMode
from test_support.browser import CHROMIUM, OperatorPage, chromium, colourfulness

from humanoid_bringup.options import Backend
from humanoid_control_common.rules.modes import Mode

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def test_a_click_on_damping_changes_the_mode_of_the_running_robot(
    start_control, start_viewer, client
):
    start_control(backend=Backend.MUJOCO)
    viewer = start_viewer()
    client.connect()
    client.until(lambda: "viewer: http" in viewer.text(), "the viewer's URL")
    url = re.search(r"viewer: (http://\S+)", viewer.text())[1]
    with chromium() as browser:
        tab = OperatorPage(browser, url)
        tab.shows_mode(Mode.ZERO_TORQUE)
        tab.click_mode(Mode.STANDBY)
        tab.shows("Rejected LOAD: requires DAMPING (currently ZERO_TORQUE)")
        tab.click_mode(Mode.DAMPING)
        client.until(lambda: client.now.mode == ControlMode.DAMPING, "DAMPING")
        tab.shows_mode(Mode.DAMPING)
        tab.robot_view_becomes(lambda picture: colourfulness(picture) > 0.001, "the robot")
