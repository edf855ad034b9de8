"""The steps of `make setup`: the next run repairs a broken step and keeps the finished ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import pip_install
import ros_prefix
import setup_env
from preflight import SetupError

FILES = ["pip.txt", "ros-jazzy.txt", "runtime.txt", "dev.txt"]


class FakeMachine:
    """Replaces venv, pip and the import of ROS: notes the calls, fails on request."""

    def __init__(self, venv: Path) -> None:
        self.venv = venv
        self.done: list[str] = []
        self.fails_at = ""
        self.pip_works = True

    def create(self, _plan: setup_env.Plan) -> None:
        self.done.append("venv")
        (self.venv / "bin").mkdir(parents=True, exist_ok=True)
        (self.venv / "bin" / "python").touch()
        (self.venv / "lib" / "python3.11" / "site-packages" / "base").mkdir(
            parents=True, exist_ok=True
        )

    def install(self, _venv: Path, files: list[Path], *_: object, **__: object) -> None:
        name = files[-1].name
        if name == self.fails_at:
            raise SetupError(f"{name} broke off")
        self.done.append(name)
        (ros_prefix.site_packages(self.venv) / name).touch()

    def finish(self, _plan: setup_env.Plan) -> None:
        self.done.append("scripts")
        (self.venv / "setup.sh").touch()

    def take(self) -> list[str]:
        """Return the calls since the last call of this."""
        done, self.done = self.done, []
        return done


@pytest.fixture
def machine(clone: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    fake = FakeMachine(clone / ".venv")
    (clone / "requirements" / "constraints.txt").touch()
    monkeypatch.delenv("PYTHON", raising=False)
    monkeypatch.setattr(setup_env, "ROOT", clone)
    monkeypatch.setattr(setup_env, "VENV", fake.venv)
    monkeypatch.setattr(setup_env, "STATE", fake.venv / "setup-state.json")
    monkeypatch.setattr(setup_env, "check_machine", lambda *_, **__: None)
    monkeypatch.setattr(setup_env, "create_environment", fake.create)
    monkeypatch.setattr(setup_env, "finish_prefix", fake.finish)
    monkeypatch.setattr(pip_install, "install", fake.install)
    monkeypatch.setattr(pip_install, "compile_all", lambda _venv: None)
    monkeypatch.setattr(
        pip_install, "works", lambda venv: fake.pip_works and (venv / "bin/python").exists()
    )
    return fake


def test_a_clean_clone_gets_everything_once(machine: FakeMachine) -> None:
    assert setup_env.main([]) == 0
    assert machine.take() == ["venv", *FILES, "scripts"]
    assert setup_env.main([]) == 0
    assert machine.take() == []


def test_tools_can_be_left_out_and_added(machine: FakeMachine) -> None:
    assert setup_env.main(["--no-tools"]) == 0
    assert machine.take() == ["venv", *FILES[:-1], "scripts"]
    assert setup_env.main([]) == 0
    assert machine.take() == ["dev.txt", "scripts"]
    assert setup_env.main(["--no-tools"]) == 0
    assert machine.take() == []


def test_a_broken_run_goes_on_where_it_stopped(
    machine: FakeMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.fails_at = "runtime.txt"
    assert setup_env.main([]) == 1
    assert capsys.readouterr().err == "setup: error: runtime.txt broke off\n"
    assert machine.take() == ["venv", *FILES[:2]]
    machine.fails_at = ""
    assert setup_env.main([]) == 0
    assert machine.take() == [*FILES[2:], "scripts"]


def test_an_interrupted_run_names_the_command_that_continues_it(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pip_install, "install", interrupt)
    assert setup_env.main([]) == 130
    assert "run `make setup` again" in capsys.readouterr().err


def test_a_changed_requirement_is_installed_with_all_that_may_depend_on_it(
    machine: FakeMachine, clone: Path
) -> None:
    setup_env.main([])
    machine.take()
    (clone / "requirements" / "runtime.txt").write_text("another==1.0\n")
    assert setup_env.main([]) == 0
    assert machine.take() == ["runtime.txt", "dev.txt", "scripts"]


def test_vanished_packages_are_brought_back(machine: FakeMachine) -> None:
    setup_env.main([])
    machine.take()
    (ros_prefix.site_packages(machine.venv) / "runtime.txt").unlink()
    assert setup_env.main([]) == 0
    assert machine.take() == [*FILES, "scripts"]
    assert setup_env.main([]) == 0
    assert machine.take() == []


def break_pip(machine: FakeMachine) -> None:
    machine.pip_works = False
    (machine.venv / "setup.sh").unlink()


def spoil_state(machine: FakeMachine) -> None:
    setup_env.STATE.write_text("{")


def lose_python(machine: FakeMachine) -> None:
    (machine.venv / "bin" / "python").unlink()


@pytest.mark.parametrize("damage", [break_pip, spoil_state, lose_python])
def test_a_damaged_environment_is_made_anew(
    machine: FakeMachine, damage: Callable[[FakeMachine], None]
) -> None:
    setup_env.main([])
    machine.take()
    damage(machine)
    assert setup_env.main([]) == 0
    assert machine.take() == ["venv", *FILES, "scripts"]


def test_a_moved_clone_gets_a_new_environment(
    machine: FakeMachine, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup_env.main([])
    machine.take()
    monkeypatch.setattr(setup_env, "ROOT", clone.rename(clone.with_name("moved")))
    machine.venv = setup_env.ROOT / ".venv"
    monkeypatch.setattr(setup_env, "VENV", machine.venv)
    monkeypatch.setattr(setup_env, "STATE", machine.venv / "setup-state.json")
    assert setup_env.main([]) == 0
    assert machine.take()[0] == "venv"


def test_setup_for_another_ros_makes_a_new_environment_with_its_numpy(
    machine: FakeMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup_env.main([])
    machine.take()
    monkeypatch.setattr(setup_env.importlib.metadata, "version", lambda name: f"1.26.4-of-{name}")
    assert setup_env.main(["--native", str(tmp_path)]) == 0
    assert machine.take() == ["venv", "pip.txt", "runtime.txt", "dev.txt", "scripts"]
    assert (machine.venv / "constraints.txt").read_text() == "numpy==1.26.4-of-numpy\n"


def test_a_sourced_ros_without_colcon_gets_it(
    machine: FakeMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup_env.importlib.util, "find_spec", lambda _name: None)
    assert setup_env.main(["--native", str(tmp_path)]) == 0
    assert machine.take() == ["venv", "pip.txt", "colcon.txt", "runtime.txt", "dev.txt", "scripts"]


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """A virtual environment with one whole package."""
    folder = tmp_path / "venv"
    site = folder / "lib" / "python3.11" / "site-packages"
    (folder / "bin").mkdir(parents=True)
    add_package(site, "whole", missing=())
    return folder


def add_package(site: Path, name: str, *, missing: tuple[str, ...]) -> Path:
    """Install a package of two modules as pip does, then remove the files in `missing`."""
    metadata = site / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (site / name).mkdir()
    files = [f"{name}/__init__.py", f"{name}/core, old.py", f"{metadata.name}/METADATA"]
    quoted = [f'"{file}",,' for file in (*files, f"{name}/never_compiled.pyc")]
    (metadata / "RECORD").write_text("\n".join(quoted))
    for file in files:
        (site / file).touch()
    for file in missing:
        (site / file.format(metadata=metadata.name)).unlink()
    return metadata


@pytest.mark.parametrize(
    "missing", ["lost/core, old.py", "{metadata}/RECORD"], ids=["file", "record"]
)
def test_a_package_that_lacks_a_file_is_removed_and_others_are_not(
    venv: Path, missing: str
) -> None:
    site = ros_prefix.site_packages(venv)
    lost = add_package(site, "lost", missing=(missing,))
    (site / "~eftover").mkdir()
    pip_install.drop_incomplete_packages(venv)
    assert not lost.exists()
    assert (site / "whole-1.0.dist-info").is_dir()
    assert not (site / "~eftover").exists()


def install(venv: Path, pip: str) -> None:
    """Runs pip_install.install with a shell script as the environment's Python."""
    (venv / "bin" / "python").write_text(f"#!/bin/sh\necho called >> '{venv}/calls'\n{pip}\n")
    (venv / "bin" / "python").chmod(0o755)
    lock = os.open(venv, os.O_RDONLY)
    try:
        pip_install.install(
            venv,
            [Path("a.txt"), Path("b.txt")],
            Path("c.txt"),
            refresh=lambda: None,
            keep_open=lock,
        )
    finally:
        os.close(lock)


def test_a_broken_download_is_tried_again(venv: Path) -> None:
    install(venv, f"[ $(wc -l < '{venv}/calls') = 2 ]")
    assert (venv / "calls").read_text().count("called") == pip_install.ATTEMPTS


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        (
            "WARNING: Retrying (Retry(total=0 ...",
            "the package index cannot be reached, check the network",
        ),
        (
            "WARNING: x\nERROR: No matching distribution found for a==1",
            "ERROR: No matching distribution",
        ),
        ("ERROR: Could not install: [Errno 28] No space left on device", "No space left on device"),
        ("Killed", "Killed"),
        ("", "pip ended without a message"),
    ],
    ids=["unreachable", "unknown version", "disk full", "killed", "silent"],
)
def test_the_reason_of_pip_is_reported_with_file_log_and_way_on(
    venv: Path, output: str, sentence: str
) -> None:
    with pytest.raises(SetupError) as caught:
        install(venv, f"printf '%s' '{output}' >&2; exit 1")
    message = str(caught.value)
    assert message.startswith("installing requirements/b.txt failed: ")
    assert sentence in message
    assert "run `make setup` again to go on" in message
    assert str(venv / "pip.log") in message
    assert "\n" not in message


def test_settings_of_the_user_reach_pip_but_not_those_that_lead_out_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "file:///index")
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    environment = pip_install.environment()
    assert environment["PIP_INDEX_URL"] == "file:///index"
    assert environment["PIP_USER"] == "0"
    assert "PYTHONPATH" not in environment
