"""The supervisor with small processes: their output, their stop, and no process left."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM
from typing import TYPE_CHECKING

import pytest

from humanoid_bringup.supervision.output import Output
from humanoid_bringup.supervision.processes import Child, Command, OrphanReaper
from humanoid_bringup.supervision.supervisor import Supervisor
from humanoid_bringup.supervision.terminal_signals import TERMINAL_SIGNALS, StopSignals

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Run, Starter

PROGRAM = str(Path(__file__).with_name("supervise.py"))

# Prints when it is ready, and when it receives the request to end.
# A signal that comes right before a `signal.pause()` has no effect until the next one.
POLITE = """
import signal, sys, time
def stop(number, frame):
    print("asked by", signal.Signals(number).name)
    sys.exit(0)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, stop)
print("ready")
while True:
    time.sleep(0.01)
"""
STUBBORN = """
import signal
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
print("ready")
while True:
    signal.pause()
"""
SLOW = POLITE.replace("    sys.exit(0)", "    if number != signal.SIGINT: sys.exit(0)")
# The exit waits for the file, as for drives.
EXITING = """
import pathlib, signal, sys, time
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
print("ready")
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
"""
# Ends and leaves a process in its group.
LEAVES_CHILD = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import signal\\nwhile True: signal.pause()"])
print("ready")
"""
# Loads, then waits for its turn; as in the control process, signals set a flag.
EARLY = """
import pathlib, signal, sys
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
from humanoid_control_common.machine.start_permission import StartPermission, Step
permission = StartPermission()
pathlib.Path(sys.argv[1]).touch()
for step in Step:
    print(step.name, permission.wait_for(step))
"""
# Says when the file is there.
FIRST = """
import pathlib, sys, time
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
print("all are loaded")
"""
STUBBORN_PARENT = LEAVES_CHILD + STUBBORN


def python(code: str) -> list[str]:
    return [sys.executable, "-u", "-c", code]


@pytest.fixture
def supervise(start: Starter) -> Callable[..., Run]:
    def run(commands: dict[str, list[str]], **options: object) -> Run:
        return start(sys.executable, PROGRAM, json.dumps({"commands": commands, **options}))

    return run


def test_both_streams_are_shown_in_whole_lines_with_their_label(supervise) -> None:
    code = (
        "import sys; print('to stdout'); print('to stderr', file=sys.stderr); print('end', end='')"
    )
    run = supervise({"a": python(code), "bcd": python("")}, optional=["a", "bcd"])
    assert run.finish() == 0
    assert {"a   | to stdout", "a   | to stderr", "a   | end"} <= set(run.lines)


def test_no_line_of_much_output_is_lost_or_torn(supervise) -> None:
    code = """
import sys
for i in range(20000):
    sys.stdout.write(f"line {i} ")
    sys.stdout.write("x" * (i % 97) + "\\n")
"""
    run = supervise({"a": [sys.executable, "-c", code], "b": python(code)}, optional=["a", "b"])
    assert run.finish() == 0
    for label in ("a", "b"):
        lines = [line for line in run.lines if line.startswith(f"{label}  | ")]
        assert lines == [f"{label}  | line {i} " + "x" * (i % 97) for i in range(20000)]


@pytest.mark.parametrize(
    "number", [SIGINT, SIGTERM, SIGHUP, SIGQUIT], ids=lambda number: number.name
)
def test_single_signal_stops_all_processes_and_needed_ones_last(
    supervise, number: signal.Signals
) -> None:
    labels = ("first", "second", "third")
    run = supervise({label: python(POLITE) for label in labels}, outlives=labels[:2])
    for label in ("first ", "second", "third "):
        run.wait_for(f"{label} | ready")
    run.send(number)
    assert run.finish() == 0
    assert run.lines[-4:] == [
        f"hc     | {number.name}: stopping",
        "third  | asked by SIGINT",
        "second | asked by SIGINT",
        "first  | asked by SIGINT",
    ]
    assert not run.descendants()


def test_nohup_is_respected(supervise, start) -> None:
    asked = json.dumps({"commands": {"a": python(POLITE)}})
    run = start("nohup", sys.executable, PROGRAM, asked)
    run.wait_for("ready")
    run.send(SIGHUP)
    run.send(SIGINT)
    assert run.finish() == 0
    assert "SIGHUP" not in run.text
    assert "SIGINT: stopping" in run.text


@pytest.mark.parametrize(
    ("last_output", "how", "code"),
    [
        ("sys.exit(3)", "exit code 3", 3),
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL", 137),
        ("os.kill(os.getpid(), signal.SIGRTMIN + 2)", "signal 36", 164),
    ],
)
def test_a_process_that_ends_by_itself_stops_the_others_and_is_named(
    supervise, last_output, how, code
) -> None:
    dying = f"import os, signal, sys; {last_output}"
    run = supervise({"polite": python(POLITE), "dying": python(dying)})
    assert run.finish() == code
    assert f"hc     | dying ended: {how}; stopping the others" in run.lines
    assert not run.descendants()


def test_an_orderly_end_stops_the_rest_and_is_no_failure(supervise) -> None:
    run = supervise({"polite": python(POLITE), "done": python("")})
    assert run.finish() == 0
    assert "hc     | done ended: exit code 0; stopping the others" in run.lines


def test_a_process_that_fails_while_it_is_stopped_is_named(supervise) -> None:
    failing = POLITE.replace("sys.exit(0)", "sys.exit(4)")
    run = supervise({"failing": python(failing), "polite": python(POLITE)})
    for label in ("failing", "polite "):
        run.wait_for(f"{label} | ready")
    run.send(SIGINT)
    assert run.finish() == 4
    assert "hc      | failing ended: exit code 4" in run.lines


@pytest.mark.parametrize("code", ["", "raise SystemExit(5)"], ids=["well", "badly"])
def test_an_optional_process_may_end(supervise, code: str) -> None:
    run = supervise({"polite": python(POLITE), "short": python(code)}, optional=["short"])
    run.wait_for("ready")
    if code:
        run.wait_for("hc     | short ended: exit code 5")
    run.send(SIGINT)
    assert run.finish() == 0
    assert "stopping the others" not in run.text


def test_process_that_does_not_end_is_killed_and_fails_the_supervisor(supervise) -> None:
    run = supervise({"polite": python(POLITE), "stubborn": python(STUBBORN)}, timeouts=[0.05, 0.05])
    for label in ("polite  ", "stubborn"):
        run.wait_for(f"{label} | ready")
    run.send(SIGINT)
    assert run.finish() == 137
    assert [line for line in run.lines if "stubborn" in line][1:] == [
        "hc       | stubborn has not ended: sending SIGTERM",
        "hc       | stubborn has not ended: sending SIGKILL",
        "hc       | stubborn ended: SIGKILL",
    ]


def test_further_signals_hasten(supervise) -> None:
    run = supervise(
        {"polite": python(POLITE), "stubborn": python(STUBBORN)},
        timeouts=[1000.0, 1000.0],
        outlives=["polite"],
        optional=["stubborn"],
    )
    for label in ("polite  ", "stubborn"):
        run.wait_for(f"{label} | ready")
    run.send(SIGINT)
    run.wait_for("stopping")
    run.send(SIGINT)
    run.wait_for("SIGINT again: ending sooner")
    run.send(SIGINT)
    run.wait_for("polite   | asked by SIGINT")  # in its turn
    assert run.finish() == 0
    assert not run.descendants()


def test_further_signals_kill_no_process_that_may_hold_torque(supervise, tmp_path: Path) -> None:
    done = tmp_path / "done"
    run = supervise({"slow": [*python(EXITING), str(done)]}, timeouts=[1000.0, 1000.0])
    run.wait_for("ready")
    for text in ("stopping", "again: ending sooner", "slow is ending, for 1000 s more at most"):
        run.send(SIGINT)
        run.wait_for(text)
    done.touch()
    assert run.finish() == 0


def test_signals_that_follow_the_first_one_at_once_count_as_the_same(
    supervise, tmp_path: Path
) -> None:
    """They would take the torque of a raised arm."""
    done = tmp_path / "done"
    slow = [*python(EXITING), str(done)]
    run = supervise({"slow": slow}, timeouts=[1000.0, 1000.0], again=1000.0)
    run.wait_for("slow | ready")
    run.send(SIGINT)
    run.wait_for("stopping")
    for number in (SIGINT, SIGTERM, SIGINT):
        run.send(number)
    done.touch()
    assert run.finish() == 0
    assert run.lines == ["slow | ready", "hc   | SIGINT: stopping"]


def test_the_first_signal_does_not_shorten_an_end_that_began_without_one(
    supervise, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    commands = {"slow": [*python(EXITING), str(done)], "ends": ["false"]}
    run = supervise(commands, timeouts=[1000.0, 1000.0], ready={"slow": "ready"})
    run.wait_for("stopping the others")
    run.send(SIGINT)
    run.wait_for("SIGINT: stopping already")
    done.touch()
    assert run.finish() == 1
    assert not [line for line in run.lines if "SIGTERM" in line]


def test_a_closing_terminal_does_not_shorten_the_end_however_often_it_signals(supervise) -> None:
    run = supervise({"slow": python(SLOW)}, timeouts=[1000.0, 1000.0])
    run.wait_for("ready")
    run.send(SIGHUP)
    run.wait_for("slow | asked by SIGINT")
    run.send(SIGHUP)
    run.send(SIGINT)
    assert run.finish() == 0
    assert [line for line in run.lines if "ending sooner" in line] == [
        "hc   | SIGINT again: ending sooner"
    ]


def test_a_program_that_cannot_be_started_is_named_and_stops_the_rest(supervise) -> None:
    run = supervise({"polite": python(POLITE), "absent": ["/nowhere/absent"], "late": ["true"]})
    assert run.finish() == 1
    assert any("absent cannot be started: " in line and "/nowhere" in line for line in run.lines)
    assert not run.descendants()


def test_processes_start_only_after_the_one_before_is_ready(supervise, tmp_path: Path) -> None:
    """The first process gets ready only on request, so an early second one is always an error."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    first = f"print('starting', flush=True); open({str(fifo)!r}).read(); print('first: ready')"
    run = supervise(
        {"first": python(first + "; import signal; signal.pause()"), "second": python("")},
        ready={"first": "first: ready"},
    )
    run.wait_for("starting")
    assert "second ended" not in "".join(run.lines)
    fifo.write_text("go")
    assert run.finish() == 0
    ready = run.lines.index("first  | first: ready")
    assert any("second ended" in line for line in run.lines[ready:])


@pytest.fixture
def beside_first(supervise: Callable[..., Run], tmp_path: Path) -> Callable[..., Run]:
    """Start a program early, whose turn comes after the line `ready` of another one."""
    loaded = str(tmp_path / "loaded")
    commands = {"first": [*python(FIRST + POLITE), loaded], "early": [*python(EARLY), loaded]}

    def run(ready: str, **options: object) -> Run:
        return supervise(commands, ready={"first": ready}, early=["early"], **options)

    return run


def test_program_loads_before_its_turn_and_begins_in_it(beside_first) -> None:
    run = beside_first("all are loaded")
    assert run.finish() == 0
    told = ("first | all", "early | ")
    assert [line for line in run.lines if line.startswith(told)] == [
        "first | all are loaded",
        "early | CONFIGURE True",
        "early | START True",
    ]


@pytest.fixture
def waiting(beside_first: Callable[..., Run]) -> Run:
    """A program that has loaded and waits; its turn never comes."""
    run = beside_first("never", guard_timeout=1000.0)
    run.wait_for("first | ready")
    return run


def test_program_whose_turn_has_not_come_ends_in_order(waiting: Run) -> None:
    waiting.send(SIGINT)
    assert waiting.finish() == 0
    assert "early | START False" in waiting.lines
    assert not waiting.descendants()


def test_program_that_waits_for_its_turn_does_not_survive_a_kill(waiting: Run) -> None:
    waiting.send(SIGKILL)
    waiting.finish()
    waiting.wait_until_alone()


def test_a_process_that_ends_before_it_is_ready_lets_nothing_else_start(
    supervise, tmp_path: Path
) -> None:
    mark = tmp_path / "started"
    run = supervise(
        {"first": python("raise SystemExit(3)"), "second": ["touch", str(mark)]},
        ready={"first": "ready"},
    )
    assert run.finish() == 3
    assert not mark.exists()


def test_child_left_in_the_group_of_an_ended_process_is_ended(supervise) -> None:
    run = supervise({"a": python(LEAVES_CHILD)})
    assert run.finish() == 0
    run.wait_until_alone()


def test_a_pipe_held_open_by_another_process_delays_nothing(supervise) -> None:
    escaping = LEAVES_CHILD.replace('pause()"]', 'pause()"], start_new_session=True')
    run = supervise({"a": python(escaping)}, note=os.devnull)
    assert run.finish() == 0
    assert "a  | ready" in run.lines
    assert run.kill_descendants(), "it was not one that escapes"


def test_no_process_survives_a_kill_of_the_supervisor(supervise, tmp_path: Path) -> None:
    note = tmp_path / "note"
    commands = {"polite": python(POLITE), "stubborn": python(STUBBORN_PARENT)}
    run = supervise(commands, guard_timeout=0.2, note=str(note))
    for label in ("polite  ", "stubborn"):
        run.wait_for(f"{label} | ready")
    run.wait_for_descendants(4)  # two processes, one's child, and the guard
    assert Path(note.read_text()).is_dir()
    run.send(SIGKILL)
    run.finish()
    run.wait_until_alone()
    assert not Path(note.read_text()).exists()


def test_a_kill_of_supervisor_and_guard_still_signals_every_process(supervise) -> None:
    run = supervise({"a": python(POLITE), "b": python(POLITE)})
    for label in ("a ", "b "):
        run.wait_for(f"{label} | ready")
    os.kill(run.descendant("orphan_reaper.py"), SIGKILL)
    run.send(SIGKILL)
    run.finish()
    run.wait_until_alone()


def test_a_killed_orphan_reaper_is_named_and_replaced(supervise, tmp_path: Path) -> None:
    note = tmp_path / "note"
    run = supervise({"a": python(STUBBORN)}, note=str(note), least_life=0.0, guard_timeout=0.2)
    run.wait_for("ready")
    first = run.descendant("orphan_reaper.py")
    os.kill(first, SIGKILL)
    run.wait_for("orphan_reaper ended: SIGKILL; started again")
    assert run.descendant("orphan_reaper.py") != first
    run.send(SIGKILL)
    run.finish()
    run.wait_until_alone()
    assert not Path(note.read_text()).exists()


@pytest.mark.parametrize(("least_life", "starts"), [(0.0, 2), (60.0, 1)])
def test_a_process_that_may_be_restarted_is_unless_it_fails_at_once(
    supervise, tmp_path: Path, least_life: float, starts: int
) -> None:
    again = tmp_path / "again"
    fails = f"""
import pathlib, sys
print("starts")
if not pathlib.Path({str(again)!r}).exists():
    pathlib.Path({str(again)!r}).touch()
    sys.exit(1)
"""
    run = supervise({"a": python(fails)}, optional=["a"], restarts=["a"], least_life=least_life)
    assert run.finish() == 0
    assert run.lines.count("a  | starts") == starts


def test_supervisor_without_its_orphan_reaper_stops_all_processes(
    supervise, tmp_path: Path
) -> None:
    note = tmp_path / "note"
    run = supervise({"a": python(POLITE)}, note=str(note))
    run.wait_for("ready")
    os.kill(run.descendant("orphan_reaper.py"), SIGKILL)
    run.send(SIGINT)
    assert run.finish() == 0
    assert not run.descendants()
    assert not Path(note.read_text()).exists()


def test_a_terminals_interrupt_arrives_once_and_labels_are_coloured(tmp_path: Path) -> None:
    asked = json.dumps({"commands": {"a": python(POLITE), "b": python(POLITE)}})
    terminal, ours = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, PROGRAM, asked],
        stdin=ours,
        stdout=ours,
        env=os.environ | {"TMPDIR": str(tmp_path), "NO_COLOR": ""},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one thread
    )
    os.close(ours)
    text = b""
    with process, os.fdopen(terminal, "r+b", buffering=0) as keyboard:
        while text.count(b"ready") < 2:
            text += keyboard.read(4096)
        keyboard.write(b"\x03")  # Ctrl-C
        with suppress(OSError):  # the error of reading a terminal that has ended
            while data := keyboard.read(4096):
                text += data
    assert process.returncode == 0
    for label in (b"\x1b[0;36ma  |\x1b[0m ", b"\x1b[0;35mb  |\x1b[0m "):
        assert text.count(label + b"asked by SIGINT") == 1
    assert text.count(b"asked") == 2


def test_a_reader_that_stands_still_does_not_hold_up_the_stop(tmp_path: Path) -> None:
    flood = POLITE.replace("time.sleep(0.01)", 'print("x" * 1000)')
    asked = json.dumps({"commands": {"flood": python(flood)}, "note": str(tmp_path / "note")})
    with subprocess.Popen([sys.executable, PROGRAM, asked], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(SIGTERM)
        folder = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while len(folder.read_text().split()) > 1:  # the guard runs to the end
            time.sleep(0.01)
        process.send_signal(SIGTERM)  # the supervisor does not print the remaining output
        assert process.wait(60) == 0


def test_a_signal_while_the_last_process_is_reaped_drops_the_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reap = Child.reap

    def reap_at_a_signal(child: Child) -> list[bytes]:
        lines = reap(child)
        os.kill(os.getpid(), SIGTERM)
        return lines

    monkeypatch.setattr(Child, "reap", reap_at_a_signal)
    before = {number: signal.getsignal(number) for number in TERMINAL_SIGNALS}
    reader, writer = os.pipe()
    flood = Command("flood", ("head", "-c", "200000", "/dev/zero"))  # more than the pipe holds
    try:
        with StopSignals() as signals, OrphanReaper() as reaper:
            output = Output(writer, "hc", [flood.label], colour=False)
            assert Supervisor(output, signals, reaper).run([flood], os.environ) == 0
            assert output.pending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reader)
        os.close(writer)


def test_a_reader_that_goes_away_stops_all(supervise, start) -> None:
    # The supervisor detects the closed output at the next line, so the process must write one
    # later.
    talking = POLITE.replace("time.sleep(0.01)", 'print("more"); signal.sigtimedwait([], 0.01)')
    asked = json.dumps({"commands": {"a": python(POLITE), "b": python(talking)}})
    run = start(
        "bash", "-c", f"{sys.executable} {PROGRAM} '{asked}' | head -n 1; echo ${{PIPESTATUS[0]}}"
    )
    assert run.finish() == 0
    assert run.lines[-1] == "0"
    assert not run.descendants()


@pytest.mark.parametrize("number", [SIGINT, SIGKILL], ids=lambda number: number.name)
def test_signal_at_any_moment_of_the_start_leaves_no_process(
    supervise, interrupts_wait, moments, tmp_path, number
) -> None:
    commands = {label: python(POLITE) for label in ("a", "b")}
    begin = time.monotonic()
    whole = supervise(commands)
    for label in commands:
        whole.wait_for(f"{label}  | ready")
    duration = time.monotonic() - begin
    whole.send(SIGINT)
    assert whole.finish() == 0
    for moment in moments(8, duration):
        with interrupts_wait():
            run = supervise(commands)
        time.sleep(moment)  # no synchronisation: any time is valid
        run.send(number)
        code = run.finish()
        run.wait_until_alone()
        if "SIGINT: stopping" in run.text:
            assert code == 0, run.text
        else:
            assert number is SIGKILL or "ready" not in run.text, run.text
    assert not list(tmp_path.glob("humanoid_control_*"))
