"""Writes texts of numbers, dates, times, decimals and UUIDs, and the keys that Python makes of
them: typed.py FOLDER writes TYPE.text, a text per line, and TYPE.bytes, the keys one after another.
It prints each TYPE with the size of its keys.

SPDX-License-Identifier: MIT"""

import datetime
import decimal
import pathlib
import random
import struct
import sys
import uuid

random.seed(1)
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
FRACTIONS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def floats(form, least, most):
    bits = struct.calcsize(form) * 8
    yield from ("0", "-0", "+1.5", ".5", "5.", "1e0", "INF", "-infinity", "0.1", "1E-400")
    yield from (least, most)
    yield "0." + "0" * 300 + "1"
    for _ in range(2000):
        number = random.getrandbits(bits).to_bytes(bits // 8, "little")
        value = struct.unpack(form, number)[0]
        if value == value:
            yield repr(value)
            yield f"{value:.{random.randrange(25)}e}" if abs(value) < float(most) else "7"


def single(text):
    """Finds the nearest value. Python rounds twice, so this compares exact values."""
    value = float(text)
    if value != value or value in (float("inf"), float("-inf")) or value == 0:
        return value
    exact = decimal.Decimal(text)
    near = struct.unpack("<f", struct.pack("<f", value))[0]
    (bits,) = struct.unpack("<I", struct.pack("<f", near))
    around = [b for b in (bits - 1, bits, bits + 1) if 0 <= b < 1 << 32]
    sides = [struct.unpack("<f", struct.pack("<I", b))[0] for b in around]
    sides = [s for s in sides if s == s and abs(s) != float("inf")]
    with decimal.localcontext() as context:
        context.prec = 400
        return min(
            sides,
            key=lambda s: (
                abs(decimal.Decimal(s) - exact),
                struct.unpack("<I", struct.pack("<f", s))[0] & 1,
            ),
        )


def dates():
    for text in "0001-01-01", "1899-12-31", "1900-03-01", "1970-01-01", "2000-02-29", "9999-12-31":
        yield text
    for _ in range(2000):
        yield datetime.date.fromordinal(random.randrange(1, 3652060)).isoformat()


def times(digits):
    """Yields texts and numbers of units since 1970."""
    units = 10**digits
    least, most = -62135596800 * units, 253402300799 * units
    if digits == 9:
        least, most = -(2**63), 2**63 - 1
    for i in range(2000):
        value = (least, most)[i] if i < 2 else random.randrange(least, most)
        if i % 3 == 0 and i > 1:
            value -= value % units
        seconds, fraction = divmod(value, units)
        minutes = random.choice((0, 0, 90, -330, 840)) if 1 < i and abs(value) < most * 0.9 else 0
        when = EPOCH + datetime.timedelta(seconds=seconds, minutes=minutes)
        text = when.strftime("%H:%M:%S")
        text = f"{when.year:04}-{when.month:02}-{when.day:02}" + random.choice("T ") + text
        if fraction or i % 2:
            text += "." + f"{fraction:0{digits}}" + "0" * random.randrange(3) if digits else ".0"
        sign, (hour, minute) = "+-"[minutes < 0], divmod(abs(minutes), 60)
        zones = (f"{sign}{hour:02}:{minute:02}", f"{sign}{hour:02}{minute:02}")
        if not minutes:
            zones = ("", "Z", "+00:00")
        yield text + random.choice(zones), value


def decimals():
    for i in range(2000):
        value = random.randrange(-(10**38) + 1, 10**38) // 10 ** random.randrange(38)
        sign = random.choice(("", "+")) if value >= 0 else ""
        yield sign + str(value) + random.choice(("", ".", ".000")), value


def uuids():
    for _ in range(1000):
        value = uuid.UUID(int=random.getrandbits(128))
        text = random.choice((str(value), value.hex))
        yield random.choice((text, text.upper())), value.bytes


def write(folder, name, pairs):
    pairs = list(pairs)
    (folder / f"{name}.text").write_text("".join(f"{text}\n" for text, _ in pairs))
    (folder / f"{name}.bytes").write_bytes(b"".join(key for _, key in pairs))
    print(name, len(pairs[0][1]))


def main():
    folder = pathlib.Path(sys.argv[1])
    texts = floats("<f", "1e-45", "3.4028235e38")
    write(folder, "float32", ((t, struct.pack("<f", single(t))) for t in texts))
    texts = floats("<d", "5e-324", "1.7976931348623157e308")
    write(folder, "float64", ((t, struct.pack("<d", float(t))) for t in texts))
    days = ((t, datetime.date.fromisoformat(t).toordinal() - 719163) for t in dates())
    write(folder, "date32", ((t, struct.pack("<i", n)) for t, n in days))
    for unit, digits in FRACTIONS.items():
        write(folder, f"timestamp-{unit}", ((t, struct.pack("<q", n)) for t, n in times(digits)))
    write(folder, "decimal128", ((t, n.to_bytes(16, "little", signed=True)) for t, n in decimals()))
    write(folder, "uuid", uuids())


main()
