"""The page in a real, headless Chromium."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect
from test_support.browser import (
    CHROMIUM,
    GIVE_UP,
    OperatorPage,
    changed,
    chromium,
    colourfulness,
)

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import MOST_SOURCES
from humanoid_viz.page.panel import LABELS, STOP_LABEL

if TYPE_CHECKING:
    from src.humanoid_viz.test.conftest import StartViewer, ViewerProcess

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

BUTTONS = (STOP_LABEL, *LABELS.values(), "CLEAR FAULT")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def viewer(start_viewer: StartViewer) -> ViewerProcess:
    return start_viewer("port:=0")


@pytest.fixture
def open_tab(browser: Any, viewer: ViewerProcess) -> Iterator[Callable[[], OperatorPage]]:
    tabs = []

    def open_tab() -> OperatorPage:
        tabs.append(OperatorPage(browser, viewer.url))
        return tabs[-1]

    yield open_tab
    for tab in tabs:
        tab.page.close()


def test_the_page_follows_a_robot_that_comes_goes_and_comes_back(open_tab, robot):
    robot.flowing = False
    tab = open_tab()
    tab.shows("waiting for joint states", ".hc-connection")
    tab.shows("waiting for robot_description", ".hc-notice")
    expect(tab.page.locator(".hc-mode")).to_have_text("–")
    empty = tab.robot_view()

    robot.describe()
    robot.flowing = True
    tab.shows(re.compile(r"connected \d+ Hz"), ".hc-connection")
    tab.shows_mode(Mode.DAMPING)
    tab.shows("shoulder0.2500.50–0.12520.02.0", ".hc-joints")
    seen = tab.robot_view_becomes(
        lambda picture: changed(empty, picture) > 0.1 and colourfulness(picture) > 0.05,
        "an orange robot",
    )

    robot.position = 1.5
    tab.robot_view_becomes(lambda picture: changed(seen, picture) > 0.02, "a robot that moved")

    robot.flowing = False
    tab.shows("connection lost", ".hc-connection")
    expect(tab.page.locator(".hc-overlay", has_text="CONNECTION LOST")).to_be_visible()
    expect(tab.page.locator(".hc-mode")).to_have_text("–")
    tab.shows("shoulder1.5000.50––––", ".hc-joints.hc-outdated")
    tab.robot_view_becomes(
        lambda picture: changed(empty, picture) > 0.1 and colourfulness(picture) < 0.01,
        "a grey robot",
    )

    robot.flowing = True
    tab.shows("connected", ".hc-connection")
    tab.robot_view_becomes(lambda picture: colourfulness(picture) > 0.05, "orange again")


def test_clicks_become_requests_and_refusals_are_shown(open_tab, robot, wait_until):
    robot.mode = 0
    tab = open_tab()
    tab.shows_mode(Mode.ZERO_TORQUE)
    tab.click_mode(Mode.DAMPING)
    wait_until(lambda: robot.requests == [1], "a request for DAMPING")
    tab.shows("requested DAMPING", ".hc-answer")
    tab.shows_mode(Mode.ZERO_TORQUE)  # requests are not statements

    robot.refusal = "Rejected LOAD: requires DAMPING (currently <b>ZERO_TORQUE</b>)"
    tab.click_mode(Mode.STANDBY)
    wait_until(lambda: robot.requests == [1, 2], "a request for STANDBY")
    tab.shows(robot.refusal, ".hc-message")  # as text: data of a topic is not HTML

    robot.mode = 2
    robot.progress(0.25)
    tab.shows_mode(Mode.STANDBY)
    tab.page.keyboard.press("Escape")
    wait_until(lambda: robot.requests == [1, 2, 1], "Escape as a request for DAMPING")

    tab.button("CLEAR FAULT").click()
    tab.shows("clear fault: refused: only in DAMPING", ".hc-answer")
    assert robot.cleared == 1


def test_stop_button_works_without_joint_states(open_tab, robot, wait_until):
    tab = open_tab()
    tab.shows_mode(Mode.DAMPING)
    robot.flowing = False
    tab.shows("connection lost", ".hc-connection")
    tab.button(STOP_LABEL).click()
    wait_until(lambda: robot.stops == [True], "a stop")
    tab.shows("NOT CONFIRMED: emergency stop sent, but no mode stated for", ".hc-refused")


def test_only_damping_is_requested_from_a_robot_that_is_no_longer_heard(
    open_tab, robot, wait_until
):
    robot.mode = 2
    tab = open_tab()
    tab.shows_mode(Mode.STANDBY)
    robot.flowing = False
    tab.shows("mode unknown: STANDBY was stated", ".hc-detail")
    tab.click_mode(Mode.REMOTE)
    tab.shows("REMOTE NOT requested: no mode stated for", ".hc-refused")
    tab.button("CLEAR FAULT").click()
    tab.shows("clear fault: NOT requested: no mode stated for", ".hc-refused")
    tab.click_mode(Mode.DAMPING)
    tab.shows("requested DAMPING, but no mode stated for", ".hc-refused")
    wait_until(lambda: robot.requests == [1], "a request for DAMPING")
    assert robot.cleared == 0


def test_clicks_without_a_subscriber_are_reported(open_tab, add_silent_mode_manager, wait_until):
    tab = open_tab()
    tab.click_mode(Mode.DAMPING)
    tab.shows("requested DAMPING, but /control_mode has no subscriber", ".hc-answer.hc-refused")
    tab.button("CLEAR FAULT").click()
    tab.shows("there is no /mode_manager/clear_fault", ".hc-answer.hc-refused")
    tab.button(STOP_LABEL).click()
    tab.shows("NOT STOPPED: no subscriber on /emergency_stop", ".hc-answer.hc-refused")
    add_silent_mode_manager()

    def requested() -> bool:
        tab.button("CLEAR FAULT").click()
        return "requested" in tab.page.locator(".hc-answer").inner_text()

    wait_until(requested, "the service is found")
    tab.shows("no answer within 3 s", ".hc-answer.hc-refused")


def test_progress_and_safety_are_shown_and_damping_never_scrolls_away(open_tab, robot):
    robot.mode = 2
    robot.report("arm_bus", 0)
    robot.report("hand_bus", 2, "wrist hot", flags=16)
    tab = open_tab()
    tab.shows_mode(Mode.STANDBY)
    robot.progress(0.25)
    tab.shows("25% of the way to the ready pose", ".hc-detail")
    tab.shows("FAULT hand_bus wrist hot · TEMPERATURE_LIMIT", ".hc-source.hc-FAULT")
    tab.shows("OK arm_bus", ".hc-source.hc-OK")

    # All of it at 1280x720.
    assert [label for label in BUTTONS if not tab.in_view(label)] == []
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.page.evaluate(
        """() => [...document.querySelectorAll('.mantine-ScrollArea-viewport')]
            .every(area => area.scrollWidth <= area.clientWidth)"""
    )

    most = MOST_SOURCES - 2  # besides the two buses
    for i in range(most):
        robot.report(f"source_{i:02}", 1, "a long list of safety sources")
    tab.shows(f"source_{most - 1:02}", ".hc-safety")
    while tab.in_view(LABELS[Mode.REMOTE]):  # the page may still be growing
        tab.page.evaluate(
            """() => document.querySelectorAll('.mantine-ScrollArea-viewport')
                .forEach(area => { area.scrollTop = area.scrollHeight; })"""
        )
    assert tab.in_view(LABELS[Mode.DAMPING])
    assert tab.in_view(STOP_LABEL)


def test_a_malformed_description_is_shown_and_a_good_one_after_it_drawn(open_tab, robot, viewer):
    robot.describe("<robot><link name='a'></robot>")
    tab = open_tab()
    tab.shows("No robot is drawn: robot description is not valid XML", ".hc-notice")
    viewer.logs("robot description is not valid XML")
    # The view may still get its size, so pictures of different times cannot be compared.
    tab.robot_view_becomes(lambda picture: colourfulness(picture) < 0.01, "no robot")
    robot.describe()
    tab.robot_view_becomes(lambda picture: colourfulness(picture) > 0.05, "a robot")
    robot.describe("<robot><link/></robot>")
    tab.shows("a <link> has no name", ".hc-notice")
    # The camera keeps the position from which it shows the robot.
    tab.robot_view_becomes(lambda picture: colourfulness(picture) < 0.01, "no robot")


def test_every_tab_shows_the_robot_and_the_end_of_its_viewer(open_tab, robot, viewer, wait_until):
    first, second = open_tab(), open_tab()
    first.shows_mode(Mode.DAMPING)
    second.shows_mode(Mode.DAMPING)
    first.page.close()
    second.click_mode(Mode.ZERO_TORQUE)
    wait_until(lambda: robot.requests == [0], "a request from the tab that is left")

    warning = second.page.locator(".hc-beat")
    expect(warning).to_be_hidden()
    viewer.process.kill()
    expect(warning).to_be_visible(timeout=GIVE_UP * 1000)


@pytest.fixture
def other_site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """The file and the address of a page of another port of this host."""
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield tmp_path / "page.html", f"http://localhost:{server.server_port}/page.html"
        server.shutdown()


@pytest.mark.parametrize("element", ["iframe src", "embed src", "object data"])
def test_a_page_of_another_port_shows_no_panel_in_itself(browser, viewer, other_site, element):
    file, address = other_site
    file.write_text(f"<{element}='{viewer.url}' width=900 height=600></{element.split()[0]}>")
    page = browser.new_page()
    with page.expect_response(lambda answer: answer.url.startswith(viewer.url)) as answered:
        page.goto(address)
    assert answered.value.status == 403
    page.close()


def test_the_page_opens_from_a_link_of_another_page(browser, viewer, other_site):
    file, address = other_site
    file.write_text(f"<a href='{viewer.url}'>the robot</a>")
    page = browser.new_page()
    page.goto(address)
    page.get_by_text("the robot").click()
    expect(page.locator(".hc-connection")).to_be_visible(timeout=GIVE_UP * 1000)
    page.close()
