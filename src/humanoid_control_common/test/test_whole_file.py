"""Files and folders are written whole, or they are as before."""

import errno
import os
from pathlib import Path

import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.whole_file import make_folder, replace_text


def _disk_is_full(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_text_is_replaced_and_the_rights_stay(tmp_path: Path) -> None:
    file = tmp_path / "a.srdf"
    replace_text(file, "old")
    file.chmod(0o640)
    replace_text(file, "new")
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_a_full_disk_leaves_the_old_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.srdf"
    file.write_text("old")
    monkeypatch.setattr(os, "fsync", _disk_is_full)
    with pytest.raises(OSError, match="No space left on device"):
        replace_text(file, "new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_gets_all_files_and_its_parents(tmp_path: Path) -> None:
    folder = tmp_path / "src/package"
    make_folder(folder, {Path("a"): b"1", Path("b/c"): b"2"})
    assert (folder / "a").read_bytes() == b"1"
    assert (folder / "b/c").read_bytes() == b"2"
    assert folder.stat().st_mode & 0o777 == 0o755


def test_a_folder_that_cannot_be_completed_is_not_left_behind(tmp_path: Path) -> None:
    contents = {Path("a"): b"1", Path("a/b"): b"there can be no file in a file"}
    with pytest.raises(ConfigError, match=f"{tmp_path}/package: cannot be made: "):
        make_folder(tmp_path / "package", contents)
    assert list(tmp_path.iterdir()) == []
