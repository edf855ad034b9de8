"""The files of the black box: list them, and request another one."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from humanoid_control_cli.client import Client
from humanoid_control_cli.domain import robot_in_words, robot_namespace, ros_domain
from humanoid_control_cli.errors import NoAnswerError
from humanoid_control_common.robot.robot_namespace import subfolder
from humanoid_control_common.rules.reasons import Reason
from humanoid_recording.black_box.fault_report import read_reasons
from humanoid_recording.black_box.origin import Origin, read_origin
from humanoid_recording.black_box.store import Store, default_folder
from humanoid_recording.crash_safe_file import BagError

SERVICE: Final = "black_box/save"


@dataclass(frozen=True, slots=True)
class Row:
    """One file in a list."""

    name: str
    size: int  # [bytes]
    reasons: tuple[Reason, ...]
    fault: float  # [s] since the epoch
    origin: Origin


@dataclass(frozen=True, slots=True)
class Listing:
    """Files, latest first, and how many were left out because they aren't of the own domain."""

    rows: tuple[Row, ...]
    others: int


def list_rows(folder: Path | None, *, every: bool) -> Listing:
    """Return the files of the own ROS domain, or every one. Raises BagError if there is none."""
    files, others = _files(folder, every=every)
    rows = []
    for path in files:
        with suppress(FileNotFoundError):  # a black box removed it meanwhile
            rows.append(_row(path))
    return Listing(tuple(rows), others)


def found(file: Path | None, folder: Path | None, *, every: bool) -> Path:
    """Return the file of that name or path; without a name the latest of this domain, or of all.

    Raises BagError if there is none.
    """
    if file is None:
        return _files(folder, every=every)[0][0]
    own = _own(folder)
    for path in (file, own / file):
        if path.exists():
            return path
    raise BagError(f"{file}: no such file, here or in {own}")


def ask_to_save(timeout: float) -> str:
    """Return the path of the new file. Raises RobotError: no answer, or no file."""
    absent = NoAnswerError(
        f"no black box answers on {robot_in_words()} within {timeout:g} s: "
        "`hc up` starts one with the robot unless `--no-black-box` is given"
    )
    with Client(timeout) as client:
        answer = client.trigger(SERVICE, absent)
    path = Path(answer)  # the robot may be on another machine
    return f"saved {path}" + (f" ({read_origin(path)})" if path.exists() else "")


def others_text(count: int) -> str:
    """Return the number of files of other robots left out, and the option that lists them."""
    verb = "is" if count == 1 else "are"
    return f"{verb} of other ROS domains, or without a mark: --all"


def _own(folder: Path | None) -> Path:
    """Return where the files of the robot in `hc`'s namespace are."""
    return (folder or default_folder()) / subfolder(robot_namespace())


def _row(path: Path) -> Row:
    size = sum(part.stat().st_size for part in path.iterdir())
    try:
        reasons, fault = read_reasons(path)
    except BagError as error:  # the other files are listed all the same
        reasons, fault = (Reason(f"cannot be read: {error}"),), path.stat().st_mtime
    return Row(path.name, size, reasons, fault, read_origin(path))


def _files(folder: Path | None, *, every: bool) -> tuple[list[Path], int]:
    """Return the files, latest first, and how many are left out."""
    store = Store(_own(folder))
    files = store.files()
    if not files:
        raise BagError(f"{store.folder}: no files of a black box there")
    domain = ros_domain()
    taken = [path for path in files if every or read_origin(path).domain == domain]
    others = len(files) - len(taken)
    if not taken:
        raise BagError(
            f"{store.folder}: no files of ROS domain {domain} there; {others} {others_text(others)}"
        )
    return taken, others
