#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pack_wheel.py WHEEL_FOLDER PLATFORM_TAG MODULE LICENSE... packs a wheel of the extension module
and of the package's Python files, and prints its path. The same files give the same bytes: the
times of all files are SOURCE_DATE_EPOCH. A licence is NAME=FILE."""

import base64
import hashlib
import os
import pathlib
import re
import sys
import time
import tomllib
import zipfile

package = pathlib.Path(__file__).parent.parent / "bindings/python"
folder, platform, module, *licenses = sys.argv[1:]
with open(package / "pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
header = (package / "../../include/lanebloom.h").read_text()
numbers = re.findall(r"^#define LANEBLOOM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M)
version = ".".join(numbers)
info = f"{project['name']}-{version}.dist-info"
tag = f"cp311-abi3-{platform}"

metadata = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}"]
metadata += [f"Summary: {project['description']}", f"License: {project['license']['text']}"]
metadata += [f"Requires-Python: {project['requires-python']}"]
metadata += [f"Requires-Dist: {name}" for name in project["dependencies"]]
for extra, names in project["optional-dependencies"].items():
    metadata += [f"Provides-Extra: {extra}"]
    metadata += [f'Requires-Dist: {name}; extra == "{extra}"' for name in names]
metadata += [f"License-File: {entry.partition('=')[0]}" for entry in licenses]
metadata += ["Description-Content-Type: text/markdown", "", (package / "README.md").read_text()]

files = {}
for path in (package / "lanebloom").iterdir():
    if path.suffix in (".py", ".pyi", ".typed"):
        files[f"lanebloom/{path.name}"] = path.read_bytes()
files[f"lanebloom/{pathlib.Path(module).name}"] = pathlib.Path(module).read_bytes()
for entry in licenses:
    name, _, path = entry.partition("=")
    files[f"{info}/licenses/{name}"] = pathlib.Path(path).read_bytes()
files[f"{info}/METADATA"] = "\n".join(metadata).encode()
files[f"{info}/WHEEL"] = (
    "Wheel-Version: 1.0\nGenerator: lanebloom\nRoot-Is-Purelib: false\n" f"Tag: {tag}\n"
).encode()
record = f"{info}/RECORD"
rows = []
for name, data in sorted(files.items()):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    rows.append(f"{name},sha256={digest},{len(data)}\n")
files[record] = "".join([*rows, f"{record},,\n"]).encode()

when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
wheel = pathlib.Path(folder) / f"{project['name']}-{version}-{tag}.whl"
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name in sorted(files, key=lambda name: (name.startswith(info), name == record, name)):
        entry = zipfile.ZipInfo(name, when)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
        entry.create_system = 3
        archive.writestr(entry, files[name])
print(wheel)
