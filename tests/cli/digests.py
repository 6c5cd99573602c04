"""Writes texts and the digests that Python makes of them: digests.py FOLDER writes `texts', which
end in NUL bytes, and NAME.hex, a digest in lower case per line, for md5, sha1, sha256 and ntlm.
hashlib has no MD4 unless OpenSSL loads its old algorithms, so this file has an MD4 (RFC 1320).

SPDX-License-Identifier: MIT"""

import hashlib
import pathlib
import random
import struct
import sys

random.seed(1)
CHARACTERS = "aZ09 ~\t\n\u00e4\u07ff\u0800\ud7ff\ue000\ufffd\U00010000\U0001f600\U0010ffff"
# For each round: the constant, the order of the words, and the rotations.
ROUNDS = [
    (0, range(16), (3, 7, 11, 19)),
    (0x5A827999, [i % 4 * 4 + i // 4 for i in range(16)], (3, 5, 9, 13)),
    (0x6ED9EBA1, [int(f"{i:04b}"[::-1], 2) for i in range(16)], (3, 9, 11, 15)),
]


def mix(number, x, y, z):
    if number == 0:
        return x & y | ~x & z
    return x & y | x & z | y & z if number == 1 else x ^ y ^ z


def md4(text):
    padded = text + b"\x80" + b"\0" * (-(len(text) + 9) % 64) + struct.pack("<Q", 8 * len(text))
    state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
    for at in range(0, len(padded), 64):
        words = struct.unpack("<16I", padded[at : at + 64])
        a, b, c, d = state
        for number, (constant, order, rotations) in enumerate(ROUNDS):
            for step, word in enumerate(order):
                total = a + mix(number, b, c, d) + words[word] + constant & 0xFFFFFFFF
                by = rotations[step % 4]
                a, b, c, d = d, (total << by | total >> 32 - by) & 0xFFFFFFFF, b, c
        state = [old + new & 0xFFFFFFFF for old, new in zip(state, (a, b, c, d))]
    return struct.pack("<4I", *state)


texts = ["", "a", "password"]
texts += ["".join(random.choices(CHARACTERS, k=n)) for n in range(300)]
texts += ["x" * n for n in (55, 56, 63, 64, 65, 127, 128, 129, 1000, 70000)]
folder = pathlib.Path(sys.argv[1])
folder.joinpath("texts").write_bytes(b"".join(text.encode() + b"\0" for text in texts))
for name in ("md5", "sha1", "sha256"):
    lines = [hashlib.new(name, text.encode()).hexdigest() for text in texts]
    folder.joinpath(f"{name}.hex").write_text("\n".join(lines) + "\n")
lines = [md4(text.encode("utf-16-le")).hex() for text in texts]
folder.joinpath("ntlm.hex").write_text("\n".join(lines) + "\n")
