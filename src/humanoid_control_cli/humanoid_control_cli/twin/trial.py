"""Run one trial of the fault campaign in the workspace, with its files."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Final

from humanoid_bringup.robot_package import DEFAULT
from humanoid_control_common.errors import RobotError
from humanoid_recording.trial_files import TrialFiles

_CAMPAIGN: Final = Path("tests/fault_campaign/__main__.py")  # in the workspace


class NoWorkspaceError(RobotError):
    """There is no checkout of the workspace, which has the fault campaign."""


class TrialError(RobotError):
    """The trial did not run; the message is the campaign's reason."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial of the campaign on the stepped robot."""

    seed: int
    kind: str
    robot: str = DEFAULT


def find_workspace(starts: Iterable[Path]) -> Path:
    """Return the first workspace at, or above, one of `starts`. Raises NoWorkspaceError."""
    for start in starts:
        for folder in (start, *start.parents):
            if (folder / _CAMPAIGN).is_file():
                return folder
    raise NoWorkspaceError(
        "there is no fault campaign here: it is in tests/ of the workspace, which packages do not "
        "install; run `hc twin trial` in a checkout of the workspace"
    )


def own_workspace() -> Path:
    """Return the workspace of the current folder, else of this file. Raises NoWorkspaceError."""
    return find_workspace((Path.cwd(), Path(__file__).resolve()))


@contextmanager
def trial_folder(given: Path | None) -> Iterator[Path]:
    """Yield `given`, or a new folder for temporary files, which is removed after an error."""
    if given is not None:
        yield given
        return
    folder = Path(mkdtemp(prefix="hc_trial_"))
    try:
        yield folder
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise


def run_trial(trial: Trial, files: TrialFiles, workspace: Path) -> None:
    """Run a trial and write its files. Raises TrialError if there are none."""
    words = ["--kind", trial.kind, "--trial", str(trial.seed)]
    words += ["--robot", trial.robot]
    done = subprocess.run(
        [sys.executable, "-m", "fault_campaign", *words, "--trace", str(files.folder.resolve())],
        cwd=workspace / _CAMPAIGN.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in {0, 1} or not files.topics.is_dir():
        reason = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise TrialError(f"the trial did not run: {reason[0]}")
