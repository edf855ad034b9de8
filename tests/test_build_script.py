"""`make build`: when it builds, when it does not, and what it cleans up."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import build


@pytest.fixture
def workspace(clone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with one package and an environment; colcon is replaced by what succeeds."""
    files = {
        "src/arm/package.xml": "<package><name>arm</name></package>",
        "src/arm/setup.py": "",
        "src/arm/arm/__init__.py": "",
        "src/arm/arm/motion.py": "",
        "src/arm/launch/arm.launch.py": "",
        "src/arm/test/test_motion.py": "",
        "src/arm/README.md": "",
        ".venv/setup-state.json": '{"identity": {"ros": "wheels", "python": "3.11"}}',
    }
    for name, text in files.items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text)
    monkeypatch.setattr(build, "ROOT", clone)
    monkeypatch.setattr(build, "SOURCES", clone / "src")
    monkeypatch.setattr(build, "STAMP", clone / "build" / "stamp.json")
    colcon = f"open({str(clone / 'builds')!r}, 'a').write('x')"
    monkeypatch.setattr(build, "COMMAND", [sys.executable, "-c", colcon])
    return clone


def builds(workspace: Path) -> int:
    """How often colcon was run."""
    log = workspace / "builds"
    return len(log.read_text()) if log.exists() else 0


def test_a_package_is_named_as_soon_as_it_is_begun(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    colcon = "import os; print('Starting >>> arm'); os._exit(1)"  # what is in buffers is lost
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.setattr(build, "COMMAND", [sys.executable, "-c", colcon])
    assert build.main() == 1
    assert capfd.readouterr().out == "Starting >>> arm\n"


def test_nothing_is_built_twice(workspace: Path) -> None:
    assert build.main() == 0
    assert build.main() == 0
    assert builds(workspace) == 1


@pytest.mark.parametrize(
    "name",
    [
        "arm/arm/motion.py",
        "arm/arm/new_module.py",
        "arm/arm/__init__.py",
        "arm/test/test_motion.py",
        "arm/test/data.yaml",
        "arm/README.md",
        "arm/arm/__pycache__/motion.pyc",
        "arm/arm.egg-info/PKG-INFO",
        "arm/.hypothesis/x",
    ],
)
def test_what_is_linked_or_not_installed_needs_no_build(workspace: Path, name: str) -> None:
    build.main()
    (workspace / "src" / name).parent.mkdir(parents=True, exist_ok=True)
    (workspace / "src" / name).write_text("changed")
    assert build.main() == 0
    assert builds(workspace) == 1


@pytest.mark.parametrize(
    "name",
    [
        "arm/setup.py",
        "arm/setup.cfg",
        "arm/package.xml",
        "arm/CMakeLists.txt",
        "arm/msg/Pose.msg",
        "arm/srv/Reset.srv",
        "arm/config/gains.yaml",
        "arm/launch/arm.launch.py",
        "arm/robots/arm.urdf.xacro",
        "arm/rviz/arm.rviz",
        "arm/resource/arm",
        "arm/arm/sub/__init__.py",
        "../colcon.meta",
    ],
)
def test_what_is_installed_or_read_by_a_build_needs_one(workspace: Path, name: str) -> None:
    build.main()
    file = workspace / "src" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("<package><name>arm</name><!-- changed --></package>")
    assert build.main() == 0
    assert builds(workspace) == 2


def test_a_removed_file_needs_a_build(workspace: Path) -> None:
    build.main()
    (workspace / "src/arm/launch/arm.launch.py").unlink()
    build.main()
    assert builds(workspace) == 2


def test_a_failed_build_is_repeated_and_says_where_its_log_is(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build.main()
    (workspace / "src/arm/setup.py").write_text("changed")
    with monkeypatch.context() as broken:
        broken.setattr(build, "COMMAND", [sys.executable, "-c", "raise SystemExit(7)"])
        assert build.main() == 7
        assert build.main() == 7
    assert "log/latest_build" in capsys.readouterr().err
    assert build.main() == 0
    assert builds(workspace) == 2


def test_what_a_removed_package_left_goes_too(workspace: Path) -> None:
    for name in ("arm", "leg"):
        marker = workspace / "install" / name / "share/colcon-core/packages" / name
        marker.parent.mkdir(parents=True)
        marker.touch()
        (workspace / "build" / name).mkdir(parents=True)
    build.main()
    left = {path.relative_to(workspace).as_posix() for path in workspace.glob("[bi]*/*/")}
    assert {"install/arm", "build/arm"} <= left
    assert not {"install/leg", "build/leg"} & left


def test_another_python_or_ros_starts_from_nothing(workspace: Path) -> None:
    build.main()
    (workspace / "build/arm").mkdir()
    (workspace / "install/arm").mkdir(parents=True)
    identity = '{"identity": {"ros": "/opt/ros/jazzy", "python": "3.12"}}'
    (workspace / ".venv/setup-state.json").write_text(identity)
    assert build.main() == 0
    assert builds(workspace) == 2
    assert not (workspace / "build/arm").exists()
    assert not (workspace / "install/arm").exists()


def test_an_import_that_failed_is_an_error_and_not_a_build_of_less(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "src/external/launch").mkdir(parents=True)
    (workspace / "src/external/ros2cli/.git").mkdir(parents=True)
    (workspace / "src/external/launch_ros/launch_ros").mkdir(parents=True)
    (workspace / "src/external/launch_ros/launch_ros/package.xml").write_text("<package/>")
    assert build.main() == 1
    said = capsys.readouterr().err
    assert "nothing is in src/external/launch, src/external/ros2cli:" in said
    assert "vcs import src/external < bar.repos" in said
    assert builds(workspace) == 0
