"""`source env.sh` and the scripts that it sources, in every shell of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import module_links
import ros_prefix

ROOT = Path(__file__).resolve().parents[2]
# zsh is optional; continuous integration installs it.
SHELLS = [shell for shell in ("bash", "zsh") if shutil.which(shell)]
every_shell = pytest.mark.parametrize("shell", SHELLS)
PATH = "/usr/bin:/bin"
PATHS = "$PATH:$LD_LIBRARY_PATH:$AMENT_PREFIX_PATH:$CMAKE_PREFIX_PATH:$PYTHONPATH"


def run(
    shell: str, script: str, *arguments: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs `script` in a new shell outside of the workspace."""
    plain = {"PATH": PATH, "HOME": str(Path.home()), "LANG": "C.UTF-8"}
    return subprocess.run(
        [str(shutil.which(shell)), "-c", script, shell, *map(str, arguments)],
        env=plain | environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


def wheel_prefix(folder: Path) -> Path:
    """A virtual environment with the parts of the wheels that the scripts read."""
    (folder / "lib/python3.11/site-packages/ros_rcl.libs").mkdir(parents=True)
    (folder / "bin").mkdir()
    ros_prefix.write_setup_scripts(folder, ros_prefix.wheel_setup_script(folder))
    return folder


@every_shell
def test_env_script_before_setup_names_the_command_to_run_and_keeps_the_shell(
    shell: str, clone: Path
) -> None:
    result = run(shell, '. "$1/env.sh"; echo "status $?"', clone)
    assert result.stdout == "status 1\n"
    assert result.stderr == (
        f"env.sh: the workspace is not built yet: run `make setup build` in {clone}\n"
    )


@every_shell
def test_env_script_of_a_workspace_that_was_moved_names_the_command_to_run(
    shell: str, clone: Path
) -> None:
    for file in (".venv/setup.sh", f"install/local_setup.{shell}"):
        (clone / file).parent.mkdir()
        (clone / file).touch()
    (clone / ".venv/setup-state.json").write_text('{"identity": {"root": "/somewhere/else"}}')
    result = run(shell, '. "$1/env.sh"; echo "status $?"', clone)
    assert result.stdout == "status 1\n"
    assert result.stderr == (
        f"env.sh: the workspace was built in another folder: run `make setup build` in {clone}\n"
    )


@every_shell
def test_the_script_opens_this_workspace(shell: str) -> None:
    script = f"""
        set -u
        . "$1/env.sh" || exit 1
        first={PATHS}
        . "$1/env.sh"
        [ "$first" = "{PATHS}" ] || {{ echo "a path grew"; exit 1; }}
        command -v hc colcon
        echo "$ROS_AUTOMATIC_DISCOVERY_RANGE ${{ROS_DOMAIN_ID-no domain}}"
        case $- in *u*) echo "still set -u" ;; esac
        python -c 'import rclpy, humanoid_control_msgs.msg, humanoid_control_common'
    """
    result = run(shell, script, ROOT, **sourced_ros())
    assert result.stderr == ""
    hc, colcon, settings, option = result.stdout.splitlines()
    assert hc == f"{ROOT}/install/humanoid_control_cli/bin/hc"
    assert colcon.endswith("/bin/colcon")
    assert settings == "LOCALHOST no domain"
    assert option == "still set -u"
    assert result.returncode == 0


@every_shell
def test_env_script_adds_one_folder_of_module_links_to_pythonpath(shell: str) -> None:
    script = """
        . "$1/env.sh" || exit 1
        echo "$PYTHONPATH"
        python -c 'import humanoid_control_msgs, humanoid_control_common as it; print(it.__file__)'
    """
    environment = sourced_ros()
    below = environment.get("PYTHONPATH") or "/home/me/modules"
    result = run(shell, script, ROOT, **(environment | {"PYTHONPATH": below}))
    path, module = result.stdout.splitlines()
    links = f"{ROOT}/install/{module_links.LINKS}"
    own = [folder for folder in path.split(":") if folder.startswith(f"{ROOT}/")]
    assert own == [folder for folder in own if folder == links or "/.venv/" in folder]
    assert own.count(links) == 1
    assert path.endswith(below)
    assert module == f"{links}/humanoid_control_common/__init__.py"


@every_shell
def test_env_script_sourced_again_below_another_workspace_changes_no_path(shell: str) -> None:
    script = f"""
        . "$1/env.sh" || exit 1
        AMENT_PREFIX_PATH="/home/me/ws/install/mine:$AMENT_PREFIX_PATH"
        PYTHONPATH="/home/me/ws/install/mine/lib:$PYTHONPATH"
        PATH="/home/me/ws/install/mine/bin:$PATH"
        before={PATHS}
        . "$1/env.sh" || exit 1
        [ "$before" = "{PATHS}" ] && echo unchanged
    """
    result = run(shell, script, ROOT, **sourced_ros())
    assert (result.stdout, result.stderr) == ("unchanged\n", "")


@every_shell
def test_setup_script_of_the_wheels_opens_in_a_shell_that_ends_at_the_first_failure(
    shell: str, tmp_path: Path
) -> None:
    script = 'set -e -o pipefail; . "$1/setup.sh"; echo "$AMENT_PREFIX_PATH"'
    result = run(shell, script, wheel_prefix(tmp_path))
    assert (result.stdout, result.stderr) == (f"{tmp_path}\n", "")


def sourced_ros() -> dict[str, str]:
    """The environment of a sourced native ROS 2; empty with the wheels."""
    if '"ros": "wheels"' in (ROOT / ".venv" / "setup-state.json").read_text():
        return {}
    settings = {"ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE"}
    return {name: value for name, value in os.environ.items() if name not in settings}


@every_shell
def test_settings_of_the_network_are_kept(shell: str) -> None:
    script = '. "$1/env.sh"; echo "$ROS_AUTOMATIC_DISCOVERY_RANGE $ROS_DOMAIN_ID"'
    settings = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_DOMAIN_ID": "7"}
    assert run(shell, script, ROOT, **(sourced_ros() | settings)).stdout == "SUBNET 7\n"


def test_env_script_that_is_run_instead_of_sourced_is_an_error() -> None:
    result = run("bash", 'bash "$1/env.sh"', ROOT, **sourced_ros())
    assert result.returncode == 1
    assert "source it: `source env.sh`" in result.stderr


@every_shell
def test_a_prefix_of_wheels_sets_what_ros_looks_for(shell: str, tmp_path: Path) -> None:
    prefix = wheel_prefix(tmp_path / "a clone" / ".venv")
    names = "$ROS_DISTRO $ROS_VERSION $_ROS_WHEELS_BOOTSTRAP_COMPLETE"
    for script in ros_prefix.SCRIPT_NAMES:
        source = f'. "$1/{script}"'
        printed = run(shell, f'{source}; {source}; echo "{names}"; echo "{PATHS}"', prefix)
        site = prefix / "lib/python3.11/site-packages"
        expected = [f"{prefix}/bin:{PATH}", f"{prefix}/lib", f"{site}/ros_rcl.libs"]
        assert printed.stdout == (f"jazzy 2 1\n{':'.join(expected)}:{prefix}:{prefix}:\n"), (
            printed.stderr
        )


@every_shell
def test_wheels_do_not_mix_with_another_ros(shell: str, tmp_path: Path) -> None:
    prefix = wheel_prefix(tmp_path / "clone" / ".venv")
    result = run(
        shell, '. "$1/setup.sh"; echo "status $?"', prefix, AMENT_PREFIX_PATH="/opt/ros/jazzy"
    )
    assert result.stdout == "status 1\n"
    assert "another ROS 2 workspace is open in this shell (/opt/ros/jazzy)" in result.stderr
    own = f"{tmp_path}/clone/install/arm:{prefix}"
    result = run(shell, '. "$1/setup.sh"; echo "status $?"', prefix, AMENT_PREFIX_PATH=own)
    assert (result.stdout, result.stderr) == ("status 0\n", "")


@every_shell
def test_beside_a_native_ros_only_packages_are_added(shell: str, tmp_path: Path) -> None:
    venv = tmp_path / "clone" / ".venv"
    site = venv / "lib/python3.12/site-packages"
    site.mkdir(parents=True)
    text = ros_prefix.native_setup_script(venv, "jazzy", Path("/opt/ros/jazzy"))
    ros_prefix.write_setup_scripts(venv, text)
    script = '. "$1/setup.sh"; echo "status $?"; echo "$PYTHONPATH ${LD_LIBRARY_PATH-none}"'
    sourced = run(shell, script, venv, ROS_DISTRO="jazzy", PYTHONPATH="/opt/ros/jazzy/lib")
    assert sourced.stdout == f"status 0\n{site}:/opt/ros/jazzy/lib none\n"
    unsourced = run(shell, script, venv, PYTHONPATH="")
    assert unsourced.stdout.startswith("status 1\n")
    assert "source /opt/ros/jazzy/setup.bash first" in unsourced.stderr


def test_include_folders_of_the_build_machine_are_emptied_and_the_line_stays(
    tmp_path: Path,
) -> None:
    export = tmp_path / "share/x_msgs/cmake/export_x_msgs__rosidl_generator_pyExport.cmake"
    other = tmp_path / "share/x_msgs/cmake/export_x_msgsExport.cmake"
    export.parent.mkdir(parents=True)
    line = 'INTERFACE_INCLUDE_DIRECTORIES "/opt/python/cp311/include;/opt/python/cp311/numpy"'
    for file in (export, other):
        file.write_text(f"set_target_properties(x PROPERTIES\n  {line}\n)\n")
    assert ros_prefix.empty_build_machine_includes(tmp_path) == 1
    assert '  INTERFACE_INCLUDE_DIRECTORIES ""\n' in export.read_text()
    assert line in other.read_text()
    assert ros_prefix.empty_build_machine_includes(tmp_path) == 0
