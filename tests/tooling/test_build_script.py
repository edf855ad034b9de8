"""`make build`: conditions of a build, and the files that it removes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import build

# Notes the packages of the build, and leaves the files that colcon leaves.
COLCON = """
import pathlib, sys
top, *rest = sys.argv[1:]
names = rest[rest.index("--packages-select") + 1:] if "--packages-select" in rest else []
with open(f"{top}/builds", "a") as log:
    print(*names, file=log)
for name in names or [it.parent.name for it in pathlib.Path(top, "src").glob("*/package.xml")]:
    marker = pathlib.Path(top, "install", name, "share/colcon-core/packages", name)
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()
"""


@pytest.fixture
def workspace(clone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with one package and an environment; a script that succeeds replaces colcon."""
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
    monkeypatch.setattr(build, "COMMAND", [sys.executable, "-c", COLCON, str(clone)])
    return clone


def add_package(workspace: Path, name: str, needs: str) -> None:
    folder = workspace / "src" / name
    folder.mkdir()
    text = f"<package><name>{name}</name><exec_depend>{needs}</exec_depend></package>"
    (folder / "package.xml").write_text(text)


def chosen(workspace: Path) -> list[list[str]]:
    """Return the packages named in each run of colcon; none: all."""
    return [line.split() for line in (workspace / "builds").read_text().splitlines()]


def builds(workspace: Path) -> int:
    """Return the number of runs of colcon."""
    log = workspace / "builds"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_a_package_is_named_as_soon_as_it_is_begun(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    colcon = "import os; print('Starting >>> arm'); os._exit(1)"  # the content of buffers is lost
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.setattr(build, "COMMAND", [sys.executable, "-c", colcon])
    assert build.main() == 1
    assert capfd.readouterr().out == "Starting >>> arm\n"


def test_second_build_without_changes_builds_no_package(workspace: Path) -> None:
    assert build.main() == 0
    assert build.main() == 0
    assert builds(workspace) == 1


@pytest.mark.parametrize(
    "name",
    [
        "arm/arm/motion.py",
        "arm/arm/new_module.py",
        "arm/arm/kernel.abi3.so",
        "arm/arm/__init__.py",
        "arm/test/test_motion.py",
        "arm/test/data.yaml",
        "arm/README.md",
        "arm/arm/__pycache__/motion.pyc",
        "arm/arm.egg-info/PKG-INFO",
        "arm/.hypothesis/x",
    ],
)
def test_change_of_a_linked_or_uninstalled_file_needs_no_build(workspace: Path, name: str) -> None:
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
        "arm/arm/kernel.c",
        "arm/resource/arm",
        "arm/arm/sub/__init__.py",
        "../colcon.meta",
    ],
)
def test_change_of_an_installed_file_or_source_needs_a_build(workspace: Path, name: str) -> None:
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


def test_a_failed_build_is_repeated_and_names_its_log(
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


def test_build_removes_the_folders_of_a_removed_package(workspace: Path) -> None:
    for name in ("arm", "leg"):
        marker = workspace / "install" / name / "share/colcon-core/packages" / name
        marker.parent.mkdir(parents=True)
        marker.touch()
        (workspace / "build" / name).mkdir(parents=True)
    build.main()
    left = {path.relative_to(workspace).as_posix() for path in workspace.glob("[bi]*/*/")}
    assert {"install/arm", "build/arm"} <= left
    assert not {"install/leg", "build/leg"} & left


def test_build_with_another_python_or_ros_starts_from_scratch(workspace: Path) -> None:
    build.main()
    (workspace / "build/arm").mkdir()
    (workspace / "install/arm/old").mkdir()
    identity = '{"identity": {"ros": "/opt/ros/jazzy", "python": "3.12"}}'
    (workspace / ".venv/setup-state.json").write_text(identity)
    assert build.main() == 0
    assert builds(workspace) == 2
    assert not (workspace / "build/arm").exists()
    assert not (workspace / "install/arm/old").exists()


def test_an_import_that_failed_is_an_error_and_not_a_build_of_less(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "src/external/launch").mkdir(parents=True)
    (workspace / "src/external/ros2cli/.git").mkdir(parents=True)
    (workspace / "src/external/launch_ros/launch_ros").mkdir(parents=True)
    (workspace / "src/external/launch_ros/launch_ros/package.xml").write_text("<package/>")
    assert build.main() == 1
    output = capsys.readouterr().err
    assert "nothing is in src/external/launch, src/external/ros2cli:" in output
    assert "vcs import src/external < bar.repos" in output
    assert builds(workspace) == 0


def test_one_package_is_built_alone_once_the_others_are(workspace: Path) -> None:
    add_package(workspace, "hand", needs="arm")
    build.main()
    assert build.main(["hand"]) == 0
    assert chosen(workspace) == [[], ["hand"]]


def test_packages_that_one_needs_and_that_are_not_built_are_built_with_it(workspace: Path) -> None:
    add_package(workspace, "hand", needs="arm")
    add_package(workspace, "finger", needs="hand")
    add_package(workspace, "leg", needs="rclpy")
    assert build.main(["finger"]) == 0
    assert chosen(workspace) == [["arm", "finger", "hand"]]


def test_build_of_one_package_leaves_nothing_to_do_but_for_the_others(workspace: Path) -> None:
    add_package(workspace, "hand", needs="arm")
    build.main()
    (workspace / "src/hand/setup.py").write_text("changed")
    build.main(["hand"])
    assert build.main() == 0
    assert builds(workspace) == 2
    (workspace / "src/arm/setup.py").write_text("changed")
    build.main(["hand"])
    assert build.main() == 0
    assert chosen(workspace) == [[], ["hand"], ["hand"], []]


def test_removed_package_is_left_out_of_the_next_build(workspace: Path) -> None:
    add_package(workspace, "hand", needs="arm")
    build.main()
    (workspace / "src/hand/package.xml").unlink()
    build.main()
    assert build.main() == 0
    assert builds(workspace) == 2


def test_failed_build_of_one_package_is_repeated(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.main()
    with monkeypatch.context() as broken:
        broken.setattr(build, "COMMAND", [sys.executable, "-c", "raise SystemExit(7)"])
        assert build.main(["arm"]) == 7
    assert build.main() == 0
    assert builds(workspace) == 2


def test_unknown_package_is_refused_with_the_known_ones(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build.main(["leg"]) == 1
    assert "no package leg; there are arm" in capsys.readouterr().err
    assert builds(workspace) == 0
