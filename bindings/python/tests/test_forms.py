# SPDX-License-Identifier: MIT
"""Filters whose keys the command made of text in steps that Python does not make. Python refuses to
screen columns with them, because the keys of the columns would be reported as absent."""

import pickle
import uuid

import numpy as np
import pyarrow as pa
import pytest

import lanebloom
from lanebloom import Filter

# The parts of containers with one key that differ: version, key form, checksums and bits. They were
# written by `lanebloom build --format leveldb` with the options --upper; --lower; --digest sha1;
# --digest ntlm:HEX --trim --upper; --decode hex --upper; --decode int64 --trim; and with two fields
# as the key.
PARTS = {
    "bytes, upper-cased": "03 00000800 87a98510633fc4fdcb649abf 880080080088000006",
    "bytes, lower-cased": "02 00000200 f1e95bdbbd5c153c11259bfe 081020408000010006",
    "sha1": "03 00002000 723732d92d1c63a7fa5401e4 008410420800000006",
    "ntlm:HEX, trimmed, upper-cased": "03 00004902 a6447e3df23e689f47c714a5 000104104000104006",
    "hex, upper-cased": "03 01000800 a35d5dd252b3b7fe604a0a8a 084004000200018006",
    "int64, trimmed": "02 04000100 10cb21eeb2c1d7b0fee2ce1c 004000000040000006",
    "bytes, fields joined by a tab": "02 00000400 bca0600fba32f199e74ec7e8 120000000000204906",
}


def container(form):
    version, flags, sums, bits = PARTS[form].split()
    nkeys, millibits, nbytes = (int.to_bytes(n, 8, "little") for n in [1, 10000, 9])
    parts = bytes.fromhex(f"894c42460d0a1a0a {version} 000000 01000000"), nkeys, millibits, nbytes
    return b"".join([*parts, bytes.fromhex(flags + sums), bytes(8), bytes.fromhex(bits)])


# The keys as the command took them, and as it hashed them, among others.
KEYS = [
    ["a", "A"],
    [b"a", b"aa", b"\xaa"],
    np.array(["a", "A"]),
    np.array([b"a"]),
    np.array([1]),
    [1],
    [uuid.UUID(int=1)],
    pa.array(["a", None]),
    pa.array(["a", "A"], pa.string_view()),
    pa.array(["a", "A"]).dictionary_encode(),
    pa.chunked_array([["a"], ["A"]]),
    pa.array([b"x" * 20], pa.binary(20)),
    pa.array([1]),
    [],
    [None],
]


@pytest.mark.parametrize("form", PARTS)
def test_other_forms_are_refused(tmp_path, form):
    path = tmp_path / "f.lbf"
    path.write_bytes(container(form))
    parsed = Filter.parse(container(form))
    filters = [Filter.load(path), Filter.map(path), parsed, pickle.loads(pickle.dumps(parsed))]
    for f in [*filters, parsed | parsed, Filter.merge([parsed])]:
        assert f.form == f.info.form == form and form in repr(f)
        for keys in KEYS:
            for call in f.screen, f.bitmap, f.select, f.count, f.hash:
                with pytest.raises(TypeError) as error:
                    call(keys)
                said = f"keys of the filter: {form}, but keys of arrays are not changed; "
                assert str(error.value).startswith(said)
        for key in "a", "A", b"a", b"\xaa", 1, uuid.UUID(int=1):
            with pytest.raises(TypeError, match="keys of arrays are not changed"):
                key in f  # noqa: B015
    assert parsed.to_bytes() == container(form)
    with pytest.raises(ValueError, match="form: expected"):
        Filter.build(["a"], form=form)
    for plain in "bytes", "hex", "int64":
        with pytest.raises(lanebloom.Error, match=f"expected keys of the form '{form}'"):
            parsed | Filter.build([], format="leveldb", form=plain)


def test_a_form_that_the_caller_gives_takes_keys_as_they_are():
    f = Filter.parse(container("bytes, upper-cased"), form="bytes")
    assert f.screen(["a", "A"]).tolist() == [False, True]


def test_keys_of_another_type_are_not_hashed():
    f = Filter.build(np.array([1, 2]))
    for keys in ["1"], np.array([1], dtype="int32"), pa.array(["1"]).dictionary_encode():
        with pytest.raises(TypeError, match="keys of the filter: int64; the array has"):
            f.hash(keys)
    assert (f.hash([1, None, 2]) == lanebloom.hash(pa.array([1, None, 2]))).all()
    assert f.hash(pa.chunked_array([], pa.int64())).tolist() == []
