# SPDX-License-Identifier: MIT
"""Tests the installed wheel. LANEBLOOM_WHEEL: the wheel's path."""

import inspect
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest
from conftest import need

import lanebloom

WHEEL = os.environ.get("LANEBLOOM_WHEEL")
HERE = pathlib.Path(__file__).parent


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_nothing_that_is_needed_is_missing():
    run(sys.executable, "-m", "pip", "check")


@pytest.mark.parametrize("program, needs", [("user", "numpy"), ("user_spark", "pyspark")])
def test_types_of_a_users_program(program, needs, tmp_path):
    need(needs)
    run(
        sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, HERE / f"{program}.py"
    )  # fmt: skip


def test_stubs_name_what_there_is(tmp_path):
    module = "lanebloom._lanebloom"
    (tmp_path / "allowed").write_text(
        "lanebloom._lanebloom.FilterInfo.*\nlanebloom._lanebloom.(Path|Keys|Key|Count|Bytes)\n"
        "lanebloom._lanebloom._(ArrowArray|ArrowStream|NumpyArray)\n"
    )
    run(
        sys.executable, "-m", "mypy.stubtest", module, "--ignore-missing-stub",
        "--allowlist", tmp_path / "allowed", "--ignore-unused-allowlist",
    )  # fmt: skip


def test_everything_is_documented():
    for name in lanebloom.__all__:
        value = getattr(lanebloom, name)
        if name != "__version__":
            assert inspect.getdoc(value), name
    for type_ in [lanebloom.Filter, lanebloom.Builder, lanebloom.Database]:
        for name in dir(type_):
            if not name.startswith("_"):
                assert inspect.getdoc(getattr(type_, name)), name


@pytest.mark.skipif(not WHEEL, reason="LANEBLOOM_WHEEL names no wheel")
def test_the_working_tree_stays_clean():
    """scripts/python.sh tells Python to write no bytecode."""
    assert sys.dont_write_bytecode


@pytest.mark.skipif(not WHEEL, reason="LANEBLOOM_WHEEL names no wheel")
def test_the_wheel_runs_on_other_linuxes():
    assert "-cp311-abi3-manylinux" in WHEEL
    oldest = '"manylinux_2_34_'
    if "-manylinux_2_28_" in WHEEL:  # made by scripts/wheels.sh
        oldest = oldest.replace("34", "28")
    assert oldest in run(sys.executable, "-m", "auditwheel", "show", WHEEL)
    names = zipfile.ZipFile(WHEEL).namelist()
    assert "lanebloom/py.typed" in names and "lanebloom/_lanebloom.pyi" in names
    assert not [name for name in names if name.endswith(".h") or "/bin/" in name]
