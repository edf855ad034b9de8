"""`hc move` and `hc jog`, with the real control process and mock hardware."""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from humanoid_control_msgs.msg import TrajectoryState
from test_support.arm_joints import ARM
from test_support.terminal import Terminal
from typer.testing import CliRunner

from humanoid_control_cli.app import app
from humanoid_control_cli.client import Client
from humanoid_control_cli.errors import NoAnswerError, RefusedError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.motion.jog import FIRST, REPEATED, HeldKey
from humanoid_control_cli.motion.trajectory_client import SETTLING, TrajectoryClient
from humanoid_control_common.errors import RobotError
from humanoid_control_common.middleware.qos_profiles import LATCHED_HISTORY
from humanoid_control_common.rules.modes import Intent
from src.humanoid_control_cli.test.conftest import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from src.humanoid_control_cli.test.conftest import Run, Starter

EXAMPLE = Path(__file__).parents[3] / "docs/examples/trajectory.yaml"
HC = "import sys; from humanoid_control_cli.main import main; sys.exit(main())"
TIMEOUT = 30.0  # [s]; a dead-man's switch
ELBOW = "left_elbow_pitch"
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@pytest.fixture(scope="module")
def robot(
    start_once: Starter, quick_controllers: Path, tmp_path_factory: pytest.TempPathFactory
) -> Starter:
    """Prime up, without a trajectory controller; joints that none claims can be held."""
    content = yaml.safe_load(quick_controllers.read_text())
    content["controller_manager"]["ros__parameters"] |= {
        "hold_stiffness": 20.0,
        "hold_damping": 2.0,
    }
    file = tmp_path_factory.mktemp("motion") / "controllers.yaml"
    file.write_text(yaml.safe_dump(content))
    start_once.bring_up("mock", file)
    return start_once


@pytest.fixture
def remote(robot: Starter, client: Client) -> Starter:
    """Bring the robot to REMOTE with the trajectory controller of the example."""
    modes = ModeClient(client)
    modes.request(Intent.DAMP)
    code, text = robot.ask("load", str(EXAMPLE))
    assert code == 0, f"{text}\n{robot.up.text}"
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))
    modes.request(Intent.START_REMOTE)
    return robot


@contextmanager
def jogging(robot: Starter, *options: str) -> Iterator[Terminal]:
    """Run `hc jog` of the elbow in a terminal. Yield it once keys count; end the program."""
    words = [sys.executable, "-c", HC, "jog", ELBOW, *options]
    terminal = Terminal(words, os.environ | robot.environment | {"TERM": "xterm"})
    try:
        terminal.wait_for(lambda text: "hold arrow up or down" in text)
        yield terminal
    finally:
        terminal.process.kill()


def test_without_a_trajectory_controller_the_answer_names_the_command_that_loads_one(
    robot: Starter, client: Client
) -> None:
    code, text = robot.ask("unload", "trajectory_controller")
    assert code == 0, text
    client.timeout = 1.0
    with pytest.raises(RobotError, match="hc load"):
        TrajectoryClient(client)


@pytest.fixture
def alone(start: Starter, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A client in a domain without a robot."""
    for name, value in start.environment.items():
        monkeypatch.setenv(name, value)
    with Client(1.0) as client:
        yield client


def test_without_a_robot_no_controller_is_missed_although_another_hc_runs(alone: Client) -> None:
    ModeClient(alone)  # publishes on /control_mode, as each `hc mode`
    with pytest.raises(NoAnswerError, match="no control process answers"):
        TrajectoryClient(alone)


def test_a_robot_that_ends_while_its_controllers_are_searched_for_is_gone(alone: Client) -> None:
    node = alone.node
    state = node.create_publisher(TrajectoryState, "trajectory_controller/state", LATCHED_HISTORY)
    end = node.create_timer(0.5 * SETTLING, lambda: (end.cancel(), node.destroy_publisher(state)))
    with pytest.raises(NoAnswerError, match="no control process answers"):
        TrajectoryClient(alone)


def test_a_joint_moves_to_its_angle_in_the_time_it_is_given(remote: Starter) -> None:
    code, text = remote.ask("move", f"{ELBOW}=-0.8", "--time", "0.9")
    assert (code, text) == (0, "moves for 0.90 s\ndone")
    code, text = remote.ask("status")
    assert code == 0
    assert re.search(r"motion +trajectory_controller: goal \d+: done", text)


def test_a_wrong_move_is_refused_with_joint_found_and_expected(remote: Starter) -> None:
    code, text = remote.ask("move", f"{ELBOW}=9")
    assert (code, text) == (1, f"hc: {ELBOW}: position 9 rad, allowed -2.25 to 0.3 rad")
    code, text = remote.ask("move", "knee=0.1")
    assert code == 1
    assert text.startswith("hc: unknown joint knee; known: left_elbow_pitch, ")


def test_outside_of_remote_the_answer_names_the_way_there(remote: Starter, client: Client) -> None:
    ModeClient(client).request(Intent.DAMP)
    motion = TrajectoryClient(client)
    with pytest.raises(RefusedError, match="`hc mode remote` first"):
        motion.move({ELBOW: -0.5}, 0.0, 0.0)
    with pytest.raises(RefusedError, match="`hc mode remote` first"):
        motion.jogged(ELBOW).jog(0.1)


@pytest.mark.parametrize("number", STOPPING)
def test_a_motion_whose_caller_is_told_to_end_stops(
    remote: Starter, client: Client, number: signal.Signals
) -> None:
    run = remote.hc_anew("move", f"{ELBOW}=0.2", "--time", "60", "--timeout", str(TIMEOUT))
    run.wait_for("moves for 60.00 s")
    run.send(number)
    assert run.finish() == 128 + number
    assert run.lines[-1] == "stopped"
    motion = TrajectoryClient(client)
    motion.move({ELBOW: -0.6}, 0.0, 0.0)  # refused only until the robot is at rest


def test_a_held_ctrl_c_does_not_interrupt_the_stop(remote: Starter, client: Client) -> None:
    run = remote.hc_anew("move", f"{ELBOW}=0.2", "--time", "60", "--timeout", str(TIMEOUT))
    run.wait_for("moves for 60.00 s")
    while run.process.poll() is None:
        run.send(signal.SIGINT)
    assert run.finish() == 130
    assert run.lines[-1] == "stopped"
    states: list[TrajectoryState] = []
    client.subscribe(TrajectoryState, "trajectory_controller/state", states.append, LATCHED_HISTORY)
    assert client.wait(lambda: states and states[-1].status == TrajectoryState.CANCELED, TIMEOUT)


def test_a_motion_that_cannot_be_reported_stops(remote: Starter, client: Client) -> None:
    words = f"move {ELBOW}=0.2 --time 60 --timeout {TIMEOUT} > /dev/full"
    run = remote("sh", "-c", f'"$0" -c "$1" {words}', sys.executable, HC)
    assert run.finish() == 1
    assert run.lines == ["hc: the output cannot be written: No space left on device"]
    states: list[TrajectoryState] = []
    client.subscribe(TrajectoryState, "trajectory_controller/state", states.append, LATCHED_HISTORY)
    assert client.wait(lambda: states and states[-1].status == TrajectoryState.CANCELED, TIMEOUT)


def test_a_motion_whose_caller_is_killed_goes_on_to_its_end(
    remote: Starter, client: Client
) -> None:
    """The whole way was checked before. For a jog see test_jog.py."""
    run = remote.hc("move", f"{ELBOW}=-0.75", "--time", "1.5", "--timeout", str(TIMEOUT))
    run.wait_for("moves for 1.50 s")
    run.send(signal.SIGKILL)
    states: list[TrajectoryState] = []
    client.subscribe(TrajectoryState, "trajectory_controller/state", states.append, LATCHED_HISTORY)
    assert client.wait(lambda: states and states[-1].status == TrajectoryState.SUCCEEDED, TIMEOUT)


def test_a_motion_whose_answer_is_lost_stops(
    remote: Starter, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = client.accepted

    def lose_answer(kind: Any, service: str, request: Any, absent: Any = None) -> Any:
        answer = accepted(kind, service, request, absent)
        if service.endswith("/move"):
            raise NoAnswerError("lost")
        return answer

    motion = TrajectoryClient(client)
    monkeypatch.setattr(client, "accepted", lose_answer)
    states: list[TrajectoryState] = []
    client.subscribe(TrajectoryState, "trajectory_controller/state", states.append, LATCHED_HISTORY)
    with pytest.raises(NoAnswerError, match="lost"):
        motion.move({ELBOW: 0.2}, 60.0, 0.0)
    assert client.wait(lambda: states and states[-1].status == TrajectoryState.CANCELED, TIMEOUT)


def test_a_robot_that_ends_during_a_motion_is_not_waited_for(
    start: Starter, quick_controllers: Path
) -> None:
    up = _own_robot(start, "mock", quick_controllers)
    run = start.hc("move", f"{ELBOW}=0.2", "--time", "3000", "--timeout", "3")
    run.wait_for("moves for 3000.00 s")
    os.kill(up.descendant("humanoid_controllers/control"), signal.SIGKILL)
    assert run.finish() == 1
    # The middleware knows the nodes of a killed process for a while.
    found = r"hc: (no control process answers|the control process) on ROS_DOMAIN_ID "
    assert re.match(found, run.lines[-1])
    assert run.lines[-1].endswith("; joints may move: `hc stop` stops them")


def _own_robot(start: Starter, backend: str, controllers: Path, *options: str) -> Run:
    """Bring up a robot of one test, with the trajectory controller in charge."""
    words = ("--no-viewer", "--controllers", str(controllers), *options)
    up = start.hc("up", backend, *words)
    up.wait_for("Prime is up")
    for request in (("load", str(EXAMPLE)), ("mode", "damp"), ("mode", "load", "--wait")):
        assert start.ask(*request)[0] == 0
    assert start.ask("mode", "remote")[0] == 0
    return up


def test_a_motion_in_a_slow_simulation_is_waited_for(
    start: Starter, quick_controllers: Path
) -> None:
    _own_robot(start, "mujoco", quick_controllers, "--rtf", "0.2")
    run = start.hc("move", f"{ELBOW}=-0.8", "--time", "1", "--timeout", "2")  # takes 5 s here
    assert (run.finish(), run.lines) == (0, ["moves for 1.00 s", "done"])


def test_replaced_motion_reports_the_replacement(remote: Starter, client: Client) -> None:
    run = remote.hc("move", f"{ELBOW}=0.2", "--time", "60", "--timeout", str(TIMEOUT))
    run.wait_for("moves for 60.00 s")
    motion = TrajectoryClient(client)
    motion.move({ELBOW: -0.6}, 5.0, 0.0)
    assert run.finish() == 1
    assert run.lines[-1] == "hc: another motion took its place"


def test_a_motion_that_ends_with_its_mode_names_the_mode_in_force(
    remote: Starter, client: Client
) -> None:
    run = remote.hc("move", f"{ELBOW}=0.2", "--time", "60", "--timeout", str(TIMEOUT))
    run.wait_for("moves for 60.00 s")
    ModeClient(client).request(Intent.DAMP)
    assert run.finish() == 1
    assert run.lines[-1].startswith("hc: ended: in force is DAMPING (damping_controller, switch ")


def test_a_refused_motion_does_not_stop_that_of_another_caller(
    remote: Starter, client: Client
) -> None:
    run = remote.hc("move", f"{ELBOW}=0.2", "--time", "2", "--timeout", str(TIMEOUT))
    run.wait_for("moves for 2.00 s")
    with pytest.raises(RefusedError, match="moves, and is not named"):
        TrajectoryClient(client).move({"right_elbow_pitch": -0.6}, 0.0, 0.0)
    assert (run.finish(), run.lines[-1]) == (0, "done")


def test_a_held_key_moves_the_joint_and_a_released_one_stops_it(
    remote: Starter, client: Client
) -> None:
    positions: list[float] = []
    from sensor_msgs.msg import JointState

    client.subscribe(
        JointState,
        "prime/joint_states",
        lambda it: positions.append(it.position[list(it.name).index(ELBOW)]),
    )
    client.wait(lambda: positions, TIMEOUT)
    begin = positions[-1]
    with jogging(remote, "--speed", "0.3") as terminal:
        terminal.press("\x1b[A")
        assert client.wait(lambda: positions[-1] > begin + 0.02, TIMEOUT)
        at_rest = lambda: len(set(positions[-20:])) == 1  # noqa: E731
        assert client.wait(at_rest, TIMEOUT)  # no key is pressed any more
        assert positions[-1] < begin + 0.3 * (FIRST + 0.2) + 0.2
        terminal.press("q")
        assert terminal.finish() == 0


def test_each_stop_of_a_jog_uses_the_same_client_of_the_service(
    remote: Starter, client: Client
) -> None:
    """A session may have thousands of stops: a client for each would slow it down."""
    jogged = TrajectoryClient(client).jogged(ELBOW)
    jogged.stop()
    before = len(list(client.node.clients))
    for _ in range(3):
        jogged.stop()
    assert len(list(client.node.clients)) == before


def test_a_refused_jog_shows_the_reason_once(remote: Starter) -> None:
    motion = remote.hc("move", "right_elbow_pitch=-0.2", "--time", "60", "--timeout", str(TIMEOUT))
    motion.wait_for("moves for 60.00 s")
    with jogging(remote) as terminal:

        def is_refused_while_held() -> bool:
            terminal.press("\x1b[A")  # repeated, as by a key that is held
            return "refused: right_elbow_pitch: moves" in terminal.text

        wait_until(is_refused_while_held, "the refusal")
        motion.finish()  # the release of the key stops all motions
        terminal.press("q")
        assert terminal.finish() == 0
        assert terminal.text.count("refused: ") == 1


def test_the_end_of_a_jog_without_a_key_lets_the_motion_of_another_client_go_on(
    remote: Starter, client: Client
) -> None:
    motion = remote.hc("move", "right_elbow_pitch=-0.2", "--time", "60", "--timeout", str(TIMEOUT))
    motion.wait_for("moves for 60.00 s")
    with jogging(remote) as terminal:
        terminal.press("q")
        assert terminal.finish() == 0
    states: list[TrajectoryState] = []
    client.subscribe(TrajectoryState, "trajectory_controller/state", states.append, LATCHED_HISTORY)
    assert client.wait(lambda: states, TIMEOUT)
    assert states[-1].status == TrajectoryState.ACTIVE
    motion.send(signal.SIGINT)
    assert motion.finish() == 128 + signal.SIGINT


def test_a_jog_of_a_silent_robot_is_not_sent(start: Starter, quick_controllers: Path) -> None:
    """The robot would get the messages when it answers again, after the key was released."""
    up = _own_robot(start, "mock", quick_controllers)
    control = up.descendant("humanoid_controllers/control")
    with jogging(start, "--timeout", "2") as terminal, ExitStack() as continued:
        continued.callback(os.kill, control, signal.SIGCONT)
        os.kill(control, signal.SIGSTOP)

        def is_told() -> bool:
            if "not sent: nothing is heard from the robot for 0.3 s" in terminal.text:
                return True
            terminal.press("\x1b[A")
            return False

        wait_until(is_told, "the reason")
        terminal.process.send_signal(signal.SIGINT)
        # The stop is not answered. Of a robot that was silent before the key none is asked.
        assert terminal.finish() in (1, 128 + signal.SIGINT)


@pytest.mark.parametrize("number", STOPPING)
def test_a_signal_ends_a_jog_with_the_terminal_as_before(
    remote: Starter, number: signal.Signals
) -> None:
    words = [sys.executable, "-c", HC, "jog", ELBOW]
    terminal = Terminal(words, os.environ | remote.environment | {"TERM": "xterm"})
    before = termios.tcgetattr(terminal.master)
    try:
        terminal.wait_for(lambda text: "hold arrow up or down" in text)
        wait_until(lambda: termios.tcgetattr(terminal.master) != before, "the keys")
        terminal.process.send_signal(number)
        assert terminal.process.wait(TIMEOUT) == 128 + number
        assert termios.tcgetattr(terminal.master) == before
    finally:
        terminal.process.kill()
        os.close(terminal.master)


def test_joints_of_two_controllers_side_by_side_move_together(
    remote: Starter, client: Client, tmp_path: Path
) -> None:
    modes = ModeClient(client)
    modes.request(Intent.DAMP)
    (example,) = yaml.safe_load(EXAMPLE.read_text()).values()
    for side in ("left", "right"):
        own = {**example["ros__parameters"], "joints": [f"{side}_{name}" for name in ARM]}
        file = tmp_path / f"{side}.yaml"
        file.write_text(yaml.safe_dump({f"{side}_trajectory": {"ros__parameters": own}}))
        code, text = remote.ask_anew("load", str(file))
        assert code == 0, text
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))
    assert modes.request(Intent.START_REMOTE).in_force.count("_trajectory") == 2
    code, text = remote.ask("move", f"{ELBOW}=-0.7", "right_elbow_pitch=-0.6", "--time", "0.8")
    assert (code, text) == (0, "moves for 0.80 s\ndone")
    modes.request(Intent.DAMP)
    for side in ("left", "right"):
        assert remote.ask_anew("unload", f"{side}_trajectory")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("move", "Missing argument"),
        ("move elbow", "'elbow', expected JOINT=ANGLE"),
        ("move elbow=up", "'elbow=up', expected JOINT=ANGLE"),
        ("move elbow=1 elbow=2", "'elbow' is given twice"),
        ("move elbow=1 --time 1 --speed 1", "give --time or --speed, not both"),
        ("move elbow=1 --time -1", "--time"),
        ("move elbow=1 --speed 0", "--speed"),
        ("jog elbow --speed 0", "--speed"),
        ("jog elbow", "needs a terminal"),
    ],
)
def test_a_bad_argument_is_a_usage_error(arguments: str, message: str) -> None:
    result = CliRunner().invoke(app, arguments.split())
    assert result.exit_code == 2
    assert message in result.output


def test_a_key_is_held_while_the_terminal_repeats_it() -> None:
    key = HeldKey()
    assert key.held(0.0) == ""
    key.note("up", 10.0)
    assert key.held(10.0 + 0.9 * FIRST) == "up"
    assert key.held(10.0 + FIRST) == ""
    key.note("up", 10.4)  # the first repetition, then one each 30 ms
    for i in range(20):
        key.note("up", 10.4 + 0.03 * i)
    released = 10.4 + 0.03 * 19
    assert key.held(released + 0.9 * REPEATED) == "up"
    assert key.held(released + REPEATED) == ""


def test_pressed_key_replaces_the_held_key_at_once() -> None:
    key = HeldKey()
    key.note("up", 10.0)
    key.note(" ", 10.1)
    assert key.held(10.1) == " "
