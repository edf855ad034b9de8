"""Commands whose input and output are not those of a terminal, and texts in a terminal."""

import os
import pty
import sys

import pytest
from rich.text import Text

from humanoid_control_cli.command_line.plain_console import PlainConsole
from humanoid_control_cli.command_line.printed_output import PrintedOutput

HC = "import sys; from humanoid_control_cli.main import main; sys.exit(main())"
FULL = "> /dev/full"  # every write fails as one to a full disk does


def _redirected(start, words: str, **environment: str):
    """Start `hc` by a shell, with redirections in `words`."""
    return start("sh", "-c", f'"$0" -c "$1" {words}', sys.executable, HC, **environment)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["version", "--help", "doctor", "decode 0x8500"])
def test_output_that_cannot_be_written_is_one_sentence_and_exit_code_1(
    start, command: str, unbuffered: str
) -> None:
    run = _redirected(start, f"{command} {FULL}", PYTHONUNBUFFERED=unbuffered)
    assert run.finish() == 1
    assert run.lines == ["hc: the output cannot be written: No space left on device"]


def test_a_bring_up_without_room_for_its_files_is_one_sentence_and_exit_code_1(start) -> None:
    line = 'ulimit -f 1; exec "$0" -c "$1" up mock --no-viewer'  # files of a block at most
    run = start("sh", "-c", line, sys.executable, HC)
    assert run.finish() == 1
    (text,) = run.lines
    assert text.startswith("hc: ")
    assert text.endswith(".bring_up.yaml cannot be written: File too large")


def test_a_failure_of_the_system_is_one_sentence_and_exit_code_1(start, tmp_path) -> None:
    program = f"import tempfile; tempfile.tempdir = {str(tmp_path / 'gone')!r}; {HC}"
    run = start(sys.executable, "-c", program, "up", "mock", "--no-viewer")
    assert run.finish() == 1
    (text,) = run.lines
    assert text.startswith(f"hc: {tmp_path}/gone/humanoid_control_")
    assert text.endswith(": No such file or directory")


def test_a_reader_that_ends_early_gets_no_traceback(start) -> None:
    run = _redirected(start, "version | true")
    run.finish()
    assert run.lines == []


def test_a_command_without_an_output_does_its_work(start) -> None:
    assert _redirected(start, "decode 0x8500 >&-").finish() == 0


def test_a_character_that_the_output_lacks_is_replaced(start) -> None:
    run = _redirected(start, "up --help", PYTHONIOENCODING="latin-1")
    assert run.finish() == 0
    assert "\\u2026" in run.text


def test_an_unknown_width_of_the_output_is_not_no_width(start) -> None:
    run = _redirected(start, "doctor", COLUMNS="0")
    run.finish()
    assert "packages" in run.text


@pytest.mark.parametrize(
    "command", ["calibrate", "jog left_wrist_yaw", "friction record --joint x --into y.yaml"]
)
def test_a_command_that_needs_keys_is_refused_without_an_input(start, command: str) -> None:
    run = _redirected(start, f"{command} <&-")
    assert run.finish() == 2
    assert "terminal" in run.text


def test_a_text_gives_a_terminal_no_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names come from the network and from files; colours and the cursor are ours."""
    master, slave = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    text = "a\x1b]0;title\x9cb\x1b[2Jc\x9bd"
    with os.fdopen(slave, "w", encoding="utf-8") as terminal, PrintedOutput(terminal) as output:
        monkeypatch.setattr(sys, "stdout", output)
        PlainConsole().print(Text(text, style="red"))
        output.write(f"{text}\n")
        output.flush()
        shown = b""
        while shown.count(b"\n") < 2:
            shown += os.read(master, 4096)
    os.close(master)
    escaped = r"a\x1b]0;title\x9cb\x1b[2Jc\x9bd"
    assert shown.decode().splitlines() == [f"\x1b[31m{escaped}\x1b[0m", escaped]


def test_a_file_s_text_gives_a_terminal_no_orders_in_an_error(start, tmp_path) -> None:
    path = tmp_path / "a\x1b[2J.yaml"
    run = _redirected(start, f"blackbox show '{path}'")
    assert run.finish() == 1
    assert r"a\x1b[2J.yaml" in run.text
