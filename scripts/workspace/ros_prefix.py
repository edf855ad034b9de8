"""Make a virtual environment that can be sourced like a ROS 2 installation."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

# Export files of the interface wheels name include folders of the machine that built them, and
# CMake refuses folders that do not exist. The line has to stay: without it CMake fails too.
PY_EXPORTS = "share/*/cmake/export_*__rosidl_generator_pyExport.cmake"
BUILD_MACHINE_INCLUDES = re.compile(r'(INTERFACE_INCLUDE_DIRECTORIES) "/opt/python/[^"]*"')

PREPEND = """\
_prepend() {  # NAME FOLDER: in front of the path-like variable NAME, unless it is there already
  eval "_present=\\${$1:-}"
  case ":$_present:" in
    *":$2:"*) ;;
    *) eval "export $1=\\"\\$2\\${_present:+:\\$_present}\\"" ;;
  esac
}
"""
# Names under which shells, colcon and other workspaces look for the set-up of a prefix.
SHELLS = ("sh", "bash", "zsh")
SCRIPT_NAMES = [f"{stem}.{shell}" for stem in ("setup", "local_setup") for shell in SHELLS]


def site_packages(venv: Path) -> Path:
    """Return the folder of the packages in `venv`. Raises FileNotFoundError if there is none."""
    for folder in sorted(venv.glob("lib/python3*/site-packages")):
        return folder
    raise FileNotFoundError(f"no site-packages in {venv}")


def empty_build_machine_includes(prefix: Path) -> int:
    """Empty the include folders of the wheels' build machine; return how many files changed."""
    changed = 0
    for file in prefix.glob(PY_EXPORTS):
        text = file.read_text()
        emptied = BUILD_MACHINE_INCLUDES.sub(r'\1 ""', text)
        if emptied != text:
            file.write_text(emptied)
            changed += 1
    return changed


def wheel_setup_script(venv: Path) -> str:
    """Return the script that puts the wheels in `venv` on every path; for sh, bash and zsh."""
    libraries = [venv / "lib", *sorted(site_packages(venv).glob("ros_*.libs"))]
    paths = [("PATH", venv / "bin"), ("AMENT_PREFIX_PATH", venv), ("CMAKE_PREFIX_PATH", venv)]
    paths += [("LD_LIBRARY_PATH", folder) for folder in reversed(libraries)]
    # The wheels re-execute every Python to set the library path, unless this variable is set.
    variables = {
        "ROS_DISTRO": "jazzy",
        "ROS_VERSION": "2",
        "ROS_PYTHON_VERSION": "3",
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
    }
    workspace = shlex.quote(str(venv.parent))
    header = "# ROS 2 Jazzy as wheels: written by `make setup`, to be sourced.\n" + (
        # awk reads all and succeeds: a caller's `set -e -o pipefail` must not end here.
        f"_other=$(printf '%s' \"${{AMENT_PREFIX_PATH:-}}\" | awk -v RS=: -v ours={workspace}/"
        " 'length($0) && index($0, ours) != 1 && !found { found = 1; print }')\n"
    )
    refusal = _refuse_if(
        '[ -n "$_other" ]',
        "another ROS 2 workspace is open in this shell ($_other): open a new shell, and this "
        "workspace before others. To use an installed ROS 2 instead of the wheels, source it and "
        "run `make setup build`",
    )
    return header + refusal + _exports(paths, variables)


def native_setup_script(venv: Path, distro: str, prefix: Path) -> str:
    """Return the script that adds `venv` to a ROS 2 which the user has sourced."""
    header = f"# Python packages beside ROS 2 {distro}: written by `make setup`, to be sourced.\n"
    refusal = _refuse_if(
        f'[ "${{ROS_DISTRO:-}}" != {shlex.quote(distro)} ]',
        f"the workspace was set up with ROS 2 {distro}: source {prefix}/setup.bash first "
        "(or run `make setup build` in this shell)",
    )
    # `ros2 launch` runs in the system's Python, which finds the packages of .venv only this way.
    paths = [("PATH", venv / "bin"), ("PYTHONPATH", site_packages(venv))]
    return header + refusal + _exports(paths, {})


def write_setup_scripts(venv: Path, text: str) -> None:
    """Write `text` under all the names by which a prefix is sourced, the plain one last."""
    for name in reversed(SCRIPT_NAMES):
        (venv / name).write_text(text)


def _refuse_if(condition: str, message: str) -> str:
    message = message.replace("`", "\\`")
    return f'if {condition}; then\n  echo "{message}" >&2\n  return 1\nfi\n'


def _exports(paths: Sequence[tuple[str, Path]], variables: Mapping[str, str]) -> str:
    lines = [f"_prepend {name} {shlex.quote(str(folder))}" for name, folder in paths]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    return PREPEND + "\n".join(lines) + "\nunset -f _prepend\nunset _present _other\n"
