#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_wheel.py WHEEL... reads the extension modules of wheels for Linux, of any CPU, and checks
what they import: only libraries that every system of the wheel's platform has, only functions of
these libraries, and only names of Python's limited API of 3.11. They must export nothing but
PyInit__lanebloom. The script needs lief and abi3info of PyPI, and for musl Debian's package
musl."""

import pathlib
import re
import sys
import zipfile

import abi3info
import lief

LIBRARIES = {
    "manylinux_2_28": r"lib(c\.so\.6|m\.so\.6|pthread\.so\.0|dl\.so\.2)|ld-linux-.*",
    "musllinux_1_2": r"libc\.so",
}
MUSL = "/usr/lib/x86_64-linux-musl/libc.so"  # 1.2.3 in Debian 12; AArch64 has the same names

names = [*abi3info.FUNCTIONS.items(), *abi3info.DATAS.items()]
python = {name.name for name, about in names if (about.added.major, about.added.minor) <= (3, 11)}


def read(module):
    """Returns the names of libraries, the imports as pairs of a name and its version, exports."""
    imports = []
    for symbol in module.dynamic_symbols:
        if symbol.name and symbol.shndx == 0 and symbol.binding != lief.ELF.Symbol.BINDING.WEAK:
            version = symbol.symbol_version and symbol.symbol_version.symbol_version_auxiliary
            imports.append((symbol.name, version.name if version else ""))
    return module.libraries, imports, [symbol.name for symbol in module.exported_symbols]


def check(path):
    platform = path.stem.split("-")[-1]
    system = next(name for name in LIBRARIES if platform.startswith(name))
    with zipfile.ZipFile(path) as archive:
        modules = [name for name in archive.namelist() if re.search(r"\.so$", name)]
        module = lief.parse(list(archive.read(modules[0])))
    libraries, imports, exports = read(module)
    faults = [f"{name} in it" for name in modules[1:]]
    faults += [name for name in libraries if not re.fullmatch(LIBRARIES[system], name)]
    known = None
    if system == "musllinux_1_2":
        musl = lief.parse(MUSL)  # lief frees a module before its symbols
        known = {symbol.name for symbol in musl.exported_symbols}
    from_python = [name for name, _ in imports if re.match("_?Py", name)]
    faults += [name for name in from_python if name not in python]
    for name, version in imports:
        if name in from_python:
            continue
        if system == "manylinux_2_28":
            glibc = re.fullmatch(r"GLIBC_2\.(\d+)[.\d]*", version)
            good = glibc and int(glibc[1]) <= 28
        else:
            good = name in known
        if not good:
            faults.append(f"{name} {version}")
    if exports != ["PyInit__lanebloom"]:
        faults.append(f"{len(exports)} exports, expected PyInit__lanebloom alone")
    others = len(imports) - len(from_python)
    if min(len(from_python), others) < 20:
        faults.append("too few names")
    for fault in faults:
        print(f"{path.name}: found {fault}", file=sys.stderr)
    print(
        f"{path.name}: {path.stat().st_size} bytes; imports {len(from_python)} names of Python and"
        f" {others} of {', '.join(sorted(libraries))}"
    )
    return not faults


if not all([check(pathlib.Path(path)) for path in sys.argv[1:]]):
    sys.exit(1)
