"""`make setup` on incomplete machines: one sentence with a remedy, no traceback."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import preflight

AddTool = Callable[[str, str], Path]
Environment = dict[str, str]


def make_setup(
    clone: Path, environment: Environment, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", "setup", *arguments],
        cwd=clone,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def refusal(clone: Path, environment: Environment, *arguments: str) -> str:
    """Return the one sentence of a setup that fails; only make may print more."""
    result = make_setup(clone, environment, *arguments)
    assert result.returncode != 0
    lines = [line for line in result.stderr.splitlines() if not line.startswith("make: ***")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("setup: error: ")
    return lines[0]


def fake_python(version: str, *, imports_rclpy: bool = False, of_distribution: bool = False) -> str:
    """Return a shell script that acts as a Python of `version` and prints its arguments."""
    minor = int(version.split(".")[1])
    return f"""
case "$2" in
  *_base_executable*) echo "{version} $0" ;;
  *base_prefix*) exit {0 if of_distribution else 1} ;;
  *rclpy*) exit {0 if imports_rclpy and minor >= 11 else 1} ;;
  *version_info*) exit {0 if 11 <= minor <= 13 else 1} ;;
  *) shift; echo "{version} runs setup_env.py $*" ;;
esac"""


STUB = 'echo "no such version is installed" >&2; exit 127'


def ros_prefix(folder: Path) -> Path:
    (folder / "share" / "rclpy").mkdir(parents=True)
    return folder


def sourced(environment: Environment, prefix: Path) -> Environment:
    return environment | {"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": str(prefix)}


def test_no_python_at_all(clone: Path, outside: Environment) -> None:
    message = refusal(clone, outside)
    assert "Python 3.11, 3.12 or 3.13 is needed and none was found: install one" in message
    assert "sudo apt install python3 python3-dev python3-venv" in message


@pytest.mark.parametrize("version", ["3.6.15", "3.10.13", "3.14.0"])
def test_an_unsuitable_python_is_named_with_its_version(
    clone: Path, outside: Environment, add_tool: AddTool, version: str
) -> None:
    add_tool("python3", fake_python(version))
    assert f"(python3 is {version})" in refusal(clone, outside)


def test_a_python_that_is_there_but_cannot_run_is_passed_over(
    clone: Path, outside: Environment, add_tool: AddTool
) -> None:
    add_tool("python3", fake_python("3.10.13"))
    add_tool("python3.11", STUB)
    add_tool("python3.12", fake_python("3.12.1"))
    result = make_setup(clone, outside)
    assert result.stdout == "3.12.1 runs setup_env.py \n"
    assert result.returncode == 0


def test_the_python_of_the_distribution_comes_before_another_that_is_found_first(
    clone: Path, outside: Environment, add_tool: AddTool, tmp_path: Path
) -> None:
    add_tool("python3", fake_python("3.11.7"))
    of_distribution = add_tool("of_distribution", fake_python("3.11.2", of_distribution=True))
    later = tmp_path / "later on the path"
    later.mkdir()
    of_distribution.rename(later / "python3")
    outside["PATH"] += f":{later}"
    assert make_setup(clone, outside).stdout == "3.11.2 runs setup_env.py \n"


def test_a_python_of_the_distribution_with_another_version_is_passed_over(
    clone: Path, outside: Environment, add_tool: AddTool
) -> None:
    add_tool("python3", fake_python("3.10.13", of_distribution=True))
    add_tool("python3.12", fake_python("3.12.1"))
    assert make_setup(clone, outside).stdout == "3.12.1 runs setup_env.py \n"


def test_a_chosen_python_is_used_or_refused_but_never_replaced(
    clone: Path, outside: Environment, add_tool: AddTool
) -> None:
    add_tool("python3", fake_python("3.11.2"))
    chosen = add_tool("mine", fake_python("3.13.0"))
    old = add_tool("old", fake_python("3.10.0"))
    assert make_setup(clone, outside, f"PYTHON={chosen}").stdout.startswith("3.13.0 runs")
    assert f"({old} is 3.10.0)" in refusal(clone, outside, f"PYTHON={old}")


def test_a_sourced_ros_is_used_with_a_python_that_can_import_it(
    clone: Path, outside: Environment, add_tool: AddTool, tmp_path: Path
) -> None:
    prefix = ros_prefix(tmp_path / "opt" / "jazzy")
    add_tool("python3", fake_python("3.12.3"))
    add_tool("python3.12", fake_python("3.12.3", imports_rclpy=True))
    result = make_setup(clone, sourced(outside, prefix), "PYTHON=python3.12")
    assert result.stdout == f"3.12.3 runs setup_env.py --native {prefix}\n"


def test_a_sourced_ros_that_is_too_old_is_refused(
    clone: Path, outside: Environment, add_tool: AddTool, tmp_path: Path
) -> None:
    prefix = ros_prefix(tmp_path / "opt" / "humble")
    old = add_tool("python3", fake_python("3.10.12", imports_rclpy=True))
    message = refusal(clone, sourced(outside, prefix), f"PYTHON={old}")
    assert "no Python >= 3.11 that can import its rclpy" in message
    assert "use ROS 2 Jazzy or newer, or open a shell without ROS" in message


def test_wheels_opened_in_the_shell_are_not_taken_for_a_ros_installation(
    clone: Path, outside: Environment, add_tool: AddTool, tmp_path: Path
) -> None:
    prefix = ros_prefix(tmp_path / "other clone" / ".venv")
    (prefix / "pyvenv.cfg").touch()
    add_tool("python3", fake_python("3.12.3"))
    assert make_setup(clone, sourced(outside, prefix)).stdout == "3.12.3 runs setup_env.py \n"


def test_missing_compilers_are_named_with_the_command_that_brings_them(
    clone: Path, outside: Environment, real_python: Path
) -> None:
    message = refusal(clone, outside)
    assert "a C compiler (gcc) and a C++ compiler (g++) not found" in message
    assert "run `sudo apt install build-essential python3" in message
    assert not (clone / ".venv").exists()


@pytest.mark.parametrize("name", ["a clone", "bob's", "a:b", "a;b", "Röboter"])
def test_a_folder_that_colcon_cannot_work_in_is_refused(
    clone: Path, outside: Environment, real_python: Path, name: str
) -> None:
    message = refusal(clone.rename(clone.with_name(name)), outside)
    assert f"colcon cannot work in '{clone.with_name(name)}'" in message
    assert message.endswith("move or rename the folder")


def test_a_second_setup_waits_for_the_first(
    clone: Path, outside: Environment, real_python: Path
) -> None:
    lock = os.open(clone, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with subprocess.Popen(
        ["bash", "scripts/workspace/setup.sh"],
        cwd=clone,
        env=outside,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as second:
        assert second.stdout is not None
        assert "another `make setup` runs here" in second.stdout.readline()
        assert second.poll() is None
        os.close(lock)
        assert second.wait() == 1  # continues, and finds no compiler


@pytest.mark.parametrize(
    "platform", [("Linux", "aarch64"), ("Darwin", "arm64"), ("Darwin", "x86_64")]
)
def test_a_platform_without_wheels_is_sent_to_native_ros(platform: tuple[str, str]) -> None:
    with pytest.raises(
        preflight.SetupError, match=r"this is \w+ \w+: install ROS 2 Jazzy natively"
    ):
        preflight.check_platform(*platform)


def test_missing_headers_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight.sysconfig, "get_path", lambda _name: str(tmp_path))
    with pytest.raises(preflight.SetupError, match=r"Python\.h\) not found: .*python3\.\d+-dev"):
        preflight.check_debian_packages()


def test_a_missing_venv_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = preflight.importlib.util.find_spec
    lacking = {"ensurepip"}
    monkeypatch.setattr(
        preflight.importlib.util,
        "find_spec",
        lambda name: None if name in lacking else find_spec(name),
    )
    with pytest.raises(preflight.SetupError, match=r"venv module not found: .*python3\.\d+-venv"):
        preflight.check_debian_packages()


def test_too_little_disk_is_reported_in_figures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usage = preflight.shutil._ntuple_diskusage(total=10**10, used=9 * 10**9, free=10**9)
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda _folder: usage)
    with pytest.raises(preflight.SetupError, match=r"1\.0 GB are free in .*, 2 GB are needed"):
        preflight.check_disk(tmp_path)
