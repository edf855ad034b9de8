"""The check of the folder of ROS's log files, and rcl's own choice of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.preflight.findings import Level, NotReadyError
from humanoid_bringup.preflight.log_folder import log_folder
from humanoid_bringup.preflight.ready import require_machine

START = "import rclpy; rclpy.init()"


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"HOME": "{}"}, "{}/.ros/log"),
        ({"HOME": "/nowhere", "ROS_HOME": "{}"}, "{}/log"),
        ({"HOME": "{}", "ROS_HOME": "/nowhere", "ROS_LOG_DIR": "~/logs"}, "{}/logs"),
    ],
)
def test_rcl_makes_its_log_files_in_the_folder_that_is_checked(
    tmp_path: Path, variables: dict[str, str], folder: str
) -> None:
    chosen = {name: text.format(tmp_path) for name, text in variables.items()}
    finding = log_folder(chosen)
    assert (finding.level, finding.found) == (Level.OK, folder.format(tmp_path))
    others = {k: v for k, v in os.environ.items() if k not in {"ROS_LOG_DIR", "ROS_HOME"}}
    subprocess.run([sys.executable, "-c", START], env=others | chosen, check=True)
    assert Path(finding.found).is_dir()


def test_a_folder_that_cannot_be_made_is_refused_as_rcl_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    obstacle = tmp_path / "file"
    obstacle.write_text("")
    chosen = {"ROS_LOG_DIR": str(obstacle / "log")}
    finding = log_folder(chosen)
    assert finding.level is Level.MISSING
    assert finding.found.startswith(f"{obstacle}/log: {obstacle} is no folder")
    run = [sys.executable, "-c", START]
    assert subprocess.run(run, env=os.environ | chosen, check=False, capture_output=True).returncode
    monkeypatch.setenv("ROS_LOG_DIR", chosen["ROS_LOG_DIR"])
    with pytest.raises(NotReadyError, match="export ROS_LOG_DIR=FOLDER"):
        require_machine(Options(backend=Backend.MOCK))


def test_a_read_only_folder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A read-only file system refuses root, too, which no folder's rights do."""
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    finding = log_folder({"HOME": str(tmp_path)})
    assert f"{tmp_path} cannot be written, so no robot starts" in finding.found


def test_without_a_home_the_variable_is_named() -> None:
    assert log_folder({}).remedy == "`export ROS_LOG_DIR=FOLDER`"
