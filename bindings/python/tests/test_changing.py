# SPDX-License-Identifier: MIT
"""Opening a database ends even if the database lacks a table and changes whenever it is read."""

import os
import shutil
import subprocess
import sys

import pytest

CC = os.environ.get("CC") or shutil.which("cc")
LIMIT_SECONDS = 60  # a call that takes longer counts as one that never returns

OPEN = """
import os, sys, threading
import lanebloom

looked, go = os.pipe(), os.pipe()
os.environ["CHANGING_PIPES"] = f"{looked[1]} {go[0]}"

def answer():
    os.read(looked[0], 1)
    os.write(go[1], b"!")

threading.Thread(target=answer).start()
try:
    lanebloom.Database(sys.argv[1])
except BaseException as error:
    print(type(error).__name__, error)
"""


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return (((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")


TABLE = list(range(256))
for _ in range(8):
    TABLE = [crc >> 1 ^ (0x82F63B78 if crc & 1 else 0) for crc in TABLE]

KEY = b"a" + b"\1" + bytes(7)  # an internal key: the user key "a" with sequence number 0


def make(folder, ntables=1):
    """Makes a database without its tables. The MANIFEST names ntables tables, from 5 on."""
    name = b"leveldb.BytewiseComparator"
    edit = bytes([1, len(name)]) + name + bytes([2, 3, 3, 127, 4, 5])
    for number in range(5, 5 + ntables):
        edit += bytes([7, 0, number, 100]) + 2 * (bytes([len(KEY)]) + KEY)
    record = masked_crc32c(b"\1" + edit) + len(edit).to_bytes(2, "little") + b"\1" + edit
    folder.mkdir()
    (folder / "CURRENT").write_text("MANIFEST-000002\n")
    (folder / "MANIFEST-000002").write_bytes(record)
    return len(record)


def compile_shim(folder):
    source, shim = os.path.join(os.path.dirname(__file__), "changing.c"), folder / "changing.so"
    subprocess.run([CC, "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    return shim


@pytest.mark.skipif(not CC, reason="there is no C compiler")
@pytest.mark.parametrize("signal", [None, 5])
def test_a_database_that_changes_at_every_look(tmp_path, signal):
    """Other threads run meanwhile; otherwise the first read would wait for ever."""
    folder = tmp_path / "db"
    nbytes = make(folder)
    environment = {**os.environ, "LD_PRELOAD": str(compile_shim(tmp_path))}
    if signal:
        environment["CHANGING_SIGNAL"] = str(signal)
    done = subprocess.run(
        [sys.executable, "-c", OPEN, folder],
        env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS,
    )  # fmt: skip
    nlooks = (folder / "MANIFEST-000002").stat().st_size - nbytes
    if signal:
        assert done.stdout == "KeyboardInterrupt \n" and nlooks == signal, done
    else:
        assert "Error" in done.stdout and "being written: expected tables that stay" in done.stdout
        assert nlooks == 102
