# SPDX-License-Identifier: MIT
"""Parquet files in folders."""

import errno
import os
import resource
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lanebloom

READ = ["1.parquet", "_p=1/q=2/a", "a b/part-0", "z.parquet"]
SKIPPED = [".hidden", "_metadata", "_temporary/0/1.parquet", ".staging/2.parquet"]


def make_folder(folder):
    """Makes a folder, and returns the names of the files in it that are to be read."""
    for name in READ + SKIPPED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": [1]}), folder / name)
    (folder / "COMPARE").write_bytes(b"a text that ends like its name: COMPARE")
    (folder / "empty").write_bytes(b"")
    (folder / "z.crc").write_bytes(b"crc")
    (folder / "gone").symlink_to("nothing")
    (folder / "a b" / "again").symlink_to(folder)
    os.mkfifo(folder / "fifo")
    (folder / "_p=1/q=2/again").symlink_to("..")
    return sorted(READ)


# make_folder() makes the file .hidden, which is not read. Calls warn about this file.
pytestmark = pytest.mark.filterwarnings("ignore:.*hidden")


def test_folders(tmp_path):
    folder = tmp_path / "d"
    names = make_folder(folder)
    files = [str(folder / name) for name in names]
    prune = lanebloom.parquet.prune
    for name in folder, str(folder), bytes(folder), [folder]:
        assert prune(name, "id", [1]) == files
    assert prune(folder, "id", [2]) == []
    hidden = folder / ".hidden"
    assert prune([hidden, folder], "id", [1]) == [hidden, *files]
    assert lanebloom.parquet.row_groups(folder, "id", [1]) == [(file, [0]) for file in files]
    assert lanebloom.parquet.audit(folder, "id").nfiles == len(files)
    (tmp_path / "e/_f").mkdir(parents=True)
    with pytest.raises(ValueError, match="e: expected a folder with Parquet files, found none"):
        prune(tmp_path / "e", "id", [1])


def test_hidden_files_are_warned_of_unless_they_are_named(tmp_path):
    folder = tmp_path / "d"
    make_folder(folder)
    prune, hidden = lanebloom.parquet.prune, folder / ".hidden"
    for ask in prune, lanebloom.parquet.row_groups:
        with pytest.warns(UserWarning, match=f"^{hidden}: .* not read"):
            ask(folder, "id", [2])
    with pytest.warns(UserWarning, match=f"^{hidden}: .* not read"):
        lanebloom.parquet.audit([folder, folder], "id")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path in hidden, str(hidden), bytes(hidden):
            prune([path, folder], "id", [2])
            prune([folder, path], "id", [2])
    (folder / "_cut").write_bytes(b"PAR1 and no more")
    with pytest.warns(UserWarning, match=f"^{hidden} and 1 more: "):
        prune(folder, "id", [2])


def test_a_folder_that_cannot_be_read(tmp_path):
    make_folder(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(OSError, match=f"{tmp_path}: Too many open files") as raised:
            lanebloom.parquet.prune(tmp_path, "id", [1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert raised.value.errno == errno.EMFILE


@pytest.mark.parametrize("content", [b"PAR1 and no more", b"the end PAR1", b"PARE both PARE"])
def test_a_file_that_may_have_keys_is_not_passed_over(tmp_path, content):
    make_folder(tmp_path)
    (tmp_path / "part").write_bytes(content)
    with pytest.raises(lanebloom.Error, match="part: "):
        lanebloom.parquet.prune(tmp_path, "id", [2])


def test_a_link_to_nothing_that_is_named_parquet(tmp_path):
    make_folder(tmp_path)
    (tmp_path / "x.parquet").symlink_to("nothing")
    with pytest.raises(FileNotFoundError):
        lanebloom.parquet.prune(tmp_path, "id", [2])
