"""Sources of bar.repos in src/external: `make` builds their packages and installs dependencies."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
import yaml

import build
import external
import setup_env

ROOT = Path(__file__).resolve().parents[2]


def add_package(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    return folder


@pytest.fixture
def workspace(clone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose bar/packages.txt lists three packages; colcon notes its arguments."""
    add_package(clone / "src/arm", "arm")
    (clone / "src/external").mkdir()
    (clone / "src/external/COLCON_IGNORE").touch()
    (clone / "bar").mkdir()
    (clone / "bar/packages.txt").write_text(
        "# comment\nsrc/external/tools/run\nsrc/external/tools/topic\nbar/client\n"
    )
    add_package(clone / "bar/client", "client")
    (clone / "bar/client/client").symlink_to("../../src/external/control/client")
    (clone / ".venv").mkdir()
    (clone / ".venv/setup-state.json").write_text('{"identity": {"ros": "wheels"}}')
    monkeypatch.setattr(build, "ROOT", clone)
    monkeypatch.setattr(build, "SOURCES", clone / "src")
    monkeypatch.setattr(build, "STAMP", clone / "build" / "stamp.json")
    note = f"import json, sys; json.dump(sys.argv[1:], open({str(clone / 'called')!r}, 'w'))"
    monkeypatch.setattr(build, "COMMAND", [sys.executable, "-c", note])
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(clone / "ros"))
    return clone


def import_repositories(workspace: Path) -> None:
    """Clone a repository, as vcs does."""
    add_package(workspace / "src/external/tools/run", "tools_run")
    add_package(workspace / "src/external/tools/topic", "tools_topic")
    add_package(workspace / "src/external/tools/unlisted", "unlisted")
    (workspace / "src/external/control/client").mkdir(parents=True)


def install(prefix: Path, name: str) -> None:
    (prefix / external.INDEX).mkdir(parents=True, exist_ok=True)
    (prefix / external.INDEX / name).touch()


def built_beside(workspace: Path) -> list[str]:
    """The extra paths of the last call of colcon."""
    arguments = json.loads((workspace / "called").read_text())
    return arguments[arguments.index("--paths") + 1 :] if arguments else []


def test_build_without_imports_builds_only_the_workspace(workspace: Path) -> None:
    assert build.main() == 0
    assert built_beside(workspace) == []


def test_listed_packages_are_built_once_they_are_imported(workspace: Path) -> None:
    build.main()
    import_repositories(workspace)
    assert build.main() == 0
    tools = "src/external/tools"
    assert built_beside(workspace) == [f"{tools}/run", f"{tools}/topic", "bar/client"]


def test_imported_package_that_ros_has_is_not_built(workspace: Path) -> None:
    import_repositories(workspace)
    install(workspace / "ros", "tools_run")
    build.main()
    assert built_beside(workspace) == ["src/external/tools/topic", "bar/client"]


def test_imported_package_that_this_workspace_installed_is_still_built(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_repositories(workspace)
    own = workspace / "install" / "tools_run"
    install(own, "tools_run")
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join([str(own), str(workspace / "ros")]))
    build.main()
    assert "src/external/tools/run" in built_beside(workspace)


def test_a_package_of_ours_waits_for_the_sources_it_links_to(workspace: Path) -> None:
    import_repositories(workspace)
    (workspace / "src/external/control/client").rmdir()
    (workspace / "src/external/control").rmdir()
    build.main()
    assert "bar/client" not in built_beside(workspace)


def test_a_changed_setup_of_an_imported_package_needs_a_build(workspace: Path) -> None:
    import_repositories(workspace)
    build.main()
    (workspace / "called").unlink()
    build.main()
    assert not (workspace / "called").exists()
    (workspace / "src/external/tools/run/setup.py").touch()
    build.main()
    assert (workspace / "called").exists()


def test_build_removes_the_folders_of_a_removed_import(workspace: Path) -> None:
    import_repositories(workspace)
    marker = workspace / "install/tools_run/share/colcon-core/packages/tools_run"
    marker.parent.mkdir(parents=True)
    marker.touch()
    build.main()
    assert marker.exists()
    (workspace / "src/external/tools/run/package.xml").unlink()
    build.main()
    assert not marker.exists()


def test_the_imported_sources_get_their_python_packages_with_the_wheels_only(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup_env, "ROOT", workspace)
    (workspace / "requirements/constraints.txt").touch()

    def requirements(native: Path | None) -> list[str]:
        return [file.name for file in setup_env.make_plan(native).requirements]

    assert "external.txt" not in requirements(None)
    import_repositories(workspace)
    assert requirements(None)[-2:] == ["external.txt", "dev.txt"]
    assert "external.txt" not in requirements(Path("/opt/ros/jazzy"))


def test_every_listed_package_comes_from_a_repository_of_the_list() -> None:
    repositories = yaml.safe_load((ROOT / "bar.repos").read_text())["repositories"]
    paths = [folder.relative_to(ROOT).parts for folder in external.listed(ROOT)]
    imported = [parts[2] for parts in paths if parts[:2] == ("src", "external")]
    assert set(imported) == repositories.keys()
    ours = [parts for parts in paths if parts[:2] != ("src", "external")]
    assert ours
    assert [parts for parts in ours if not ROOT.joinpath(*parts, "package.xml").exists()] == []


def test_colcon_ignores_the_folders_of_imported_sources() -> None:
    for folder in ("src/external", "bar"):
        assert (ROOT / folder / "COLCON_IGNORE").is_file()
