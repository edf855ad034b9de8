"""The calibration file: its text, and its atomic replacement."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from io import BufferedWriter
from pathlib import Path
from typing import Final

from humanoid_bringup.calibration.results import JointResult
from humanoid_control_common.errors import RobotError
from humanoid_control_common.whole_file import replace_text

HEADER: Final = """\
# Calibration of this very robot, written by `hc calibrate` on {date}.
#
#   joint = direction * (raw - homing_offset)      raw = direction * joint + homing_offset      \
(velocity, effort: direction only)
#
# id: ring position (eRob) or CAN id the entry was measured on, as in the robot's hardware file.
# direction: 1 or -1. homing_offset: raw angle at joint angle 0 [rad].
"""
DIGITS: Final = 9  # of offsets behind the point: a count of the finest encoder is 1.2e-5 rad


class CalibrationFileError(RobotError):
    """The calibration file can't be written."""


def file_text(results: Sequence[JointResult], ids: Mapping[str, int], when: datetime) -> str:
    """Return the whole file; `ids` are ring positions and CAN ids by joint."""
    longest = max(len(result.joint) for result in results) + 1
    lines = []
    for result in results:
        calibration = result.calibration
        number = f"{ids[result.joint]},"
        values = (
            f"id: {number:<3} direction: {calibration.direction:2d}, "
            f"homing_offset: {calibration.homing_offset:+.{DIGITS}f}"
        )
        lines.append(f"{result.joint + ':':<{longest}} {{{values}}}  # {result.origin}\n")
    return HEADER.format(date=when.strftime("%Y-%m-%d %H:%M:%S")) + "".join(lines)


def check_writable(path: Path) -> None:
    """Raise CalibrationFileError if `path` could not be replaced: known before the work begins."""
    folder = path.resolve().parent
    if path.is_dir():
        raise CalibrationFileError(f"{path} is a folder, expected the name of a file")
    if path.exists() and not path.is_file():  # a device has no end, a pipe may wait for ever
        raise CalibrationFileError(f"{path}: no regular file; give another one (--output FILE)")
    if path.exists() and not os.access(path, os.W_OK):
        raise CalibrationFileError(
            f"{path}: no permission to write; allow it, or give another file (--output FILE)"
        )
    if not folder.is_dir():
        raise CalibrationFileError(f"{path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CalibrationFileError(
            f"{path}: no permission to write into {folder}; give another file (--output FILE)"
        )


def replace_file(path: Path, text: str, when: datetime) -> Path | None:
    """Replace the content of `path` by `text`, whole or not at all. Return the old file's copy.

    Of a symbolic link the target is replaced. Raises CalibrationFileError.
    """
    target = path.resolve()
    try:
        backup = _back_up(target, when)
        replace_text(target, text)
    except OSError as error:
        raise CalibrationFileError(f"{target} cannot be written: {error.strerror}") from error
    return backup


def _back_up(target: Path, when: datetime) -> Path | None:
    if not target.exists():
        return None
    content = target.read_bytes()
    stem = f"{target.name}.{when.strftime('%Y%m%d-%H%M%S')}"
    names = (f"{stem}{more}.bak" for more in ("", *(f"-{i}" for i in range(1, 1000))))
    for name in names:
        backup = target.with_name(name)
        with suppress(FileExistsError), backup.open("xb") as copy:
            _fill(backup, copy, content)
            return backup
    raise FileExistsError(None, f"too many backups of {when}")


def _fill(backup: Path, copy: BufferedWriter, content: bytes) -> None:
    try:
        copy.write(content)
        copy.flush()
        os.fsync(copy.fileno())
    except BaseException:
        backup.unlink(missing_ok=True)  # half of one could be taken for a whole one
        raise
