#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times filters of Guava, Cassandra and Hudi, by lanebloom and by these programs themselves.

    bench/jvm.py [-s KIB,...] BUILD FOLDER

BUILD is a build with benchmarks, such as build/bench. FOLDER receives filters of each size: half of
the bits of one are set, and all bits of the other. Hudi's have at most 256 MiB. Downloads Guava
33.4.8, Cassandra 5.0.4 and Hudi 1.0.2; needs Maven and Java. Both sides use one thread. Prints
nanoseconds per key and their ratio, for keys that are absent (a key passes with the rate 2^-k) and
for keys that are present."""

import argparse
import base64
import os
import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CASES = [(8, 7), (40, 14)]  # the width of keys, and the number of probes
NKEYS = 65536


def write_hudi(path, nprobes, kib, ones):
    nbytes = kib * 1024
    header = b"\xff" * 4 + nprobes.to_bytes(4, "big") + b"\x01"
    header += (8 * nbytes - 1).to_bytes(4, "big")
    path.write_bytes(base64.b64encode(header + (b"\xff" * nbytes if ones else os.urandom(nbytes))))


def write_filter(path, format, nprobes, kib, ones):
    if format == "hudi":
        write_hudi(path, nprobes, kib, ones)
        return
    nwords = kib * 1024 // 8
    header = nwords.to_bytes(4, "big")
    is_guava = format.startswith("guava")
    header = (bytes([1, nprobes]) if is_guava else nprobes.to_bytes(4, "big")) + header
    with open(path, "wb") as file:
        file.write(header)
        for _ in range(0, kib, 1024):
            nbytes = min(kib, 1024) * 1024
            file.write(b"\xff" * nbytes if ones else os.urandom(nbytes))


def measure(*command):
    """Returns the ns per key that the program prints."""
    ran = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True)
    return float(ran.stdout)


def make_java(folder):
    mvn = [SOURCE / "scripts/download.sh", "mvn", "-q", "-B", "-f", folder / "jvm/pom.xml"]
    jars = folder / "jvm/jars"
    subprocess.run(["cp", "-r", SOURCE / "tests/jvm", folder], check=True)
    subprocess.run(
        [*mvn, "compile", "dependency:copy-dependencies", f"-DoutputDirectory={jars}"], check=True
    )
    return ["java", "-Xmx4g", "-cp", f"{folder / 'jvm/target/classes'}:{jars}/*"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-s", "--sizes", default="256,16384,1048576", help="sizes of filters, KiB")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    java = make_java(folder)
    for width, _ in CASES:
        keys = (os.urandom(width // 2).hex() + "\n" for _ in range(NKEYS))
        (folder / f"keys-{width}").write_text("".join(keys))
    print("FORMAT       BYTES   K      KIB  KEYS         JVM    OURS  RATIO")
    path = folder / "filter"
    for kib in map(int, options.sizes.split(",")):
        for format in ["guava-64", "cassandra"] + ["hudi"] * (kib <= 262144):
            # Hudi plans 30 probes by default
            for width, nprobes in CASES + [(40, 30)] * (format == "hudi"):
                for ones in False, True:
                    write_filter(path, format, nprobes, kib, ones)
                    what = [format, path, folder / f"keys-{width}"]
                    theirs = measure(*java, "lanebloom.Measure", *what)
                    mine = measure(options.build / "bench/lanebloom-lines", *what)
                    keys = "present" if ones else "absent"
                    print(
                        f"{format:12}{width:6}{nprobes:4}{kib:9}  {keys:8}{theirs:8.1f}"
                        f"{mine:8.2f}{theirs / mine:7.1f}",
                        flush=True,
                    )
    path.unlink()


if __name__ == "__main__":
    main()
