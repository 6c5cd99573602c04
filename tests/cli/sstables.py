"""Writes partition keys of Cassandra: sstables.py FOLDER writes TYPES.text, the text of the
columns, a key per line, and TYPES.hex, the bytes of the keys in hexadecimal, for several lists of
types.

SPDX-License-Identifier: MIT"""

import pathlib
import random
import struct
import sys
import uuid

random.seed(1)


def value(kind):
    """Returns a value as text, and as Cassandra serializes it."""
    if kind == "text":
        text = "".join(random.choices("abcXYZ 09\u00e4\u20ac\U0001f600", k=random.randrange(20)))
        return text, text.encode()
    if kind == "int":
        number = random.choice([0, 1, -1, 2**31 - 1, -(2**31), random.randrange(-(2**31), 2**31)])
        return str(number), struct.pack(">i", number)
    if kind == "bigint":
        number = random.choice([0, -1, 2**63 - 1, -(2**63), random.randrange(-(2**63), 2**63)])
        return str(number), struct.pack(">q", number)
    if kind == "uuid":
        number = uuid.UUID(int=random.getrandbits(128))
        return random.choice([str(number), str(number).upper()]), number.bytes
    blob = random.randbytes(random.randrange(40))
    return random.choice(["", "0x"]) + blob.hex(), blob


folder = pathlib.Path(sys.argv[1])
for types in ("text", "int", "bigint", "uuid", "blob", "text,int", "blob,uuid,bigint,text"):
    kinds = types.split(",")
    lines, keys = [], []
    for _ in range(500):
        values = [value(kind) for kind in kinds]
        lines.append("\t".join(text for text, _ in values))
        parts = [struct.pack(">H", len(part)) + part + b"\0" for _, part in values]
        keys.append(values[0][1] if len(kinds) == 1 else b"".join(parts))
    folder.joinpath(f"{types}.text").write_text("\n".join(lines) + "\n")
    folder.joinpath(f"{types}.hex").write_text("\n".join(key.hex() for key in keys) + "\n")
