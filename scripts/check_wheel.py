#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_wheel.py WHEEL... reads the extension modules of wheels, for any system and CPU, and checks
what they import: only libraries that every system of the wheel's platform has, only functions of
these libraries, and only names of Python's limited API of 3.11. They must run on the oldest system
that the platform names, and export only PyInit__lanebloom. On macOS they may export more, because
there each module gets names from the libraries that it names. The script needs lief and abi3info of
PyPI, and for musl Debian's package musl."""

import pathlib
import re
import sys
import zipfile

import abi3info
import lief

LIBRARIES = {
    "manylinux_2_28": r"lib(c\.so\.6|m\.so\.6|pthread\.so\.0|dl\.so\.2)|ld-linux-.*",
    "musllinux_1_2": r"libc\.so",
    "macosx_13_0": r"/usr/lib/libSystem\.B\.dylib",
    "win_amd64": r"(?i:python3|kernel32|advapi32|ntdll|bcrypt|api-ms-win-crt-[a-z]+-l1-1-0)\.dll",
}
OLDEST = {"macosx_13_0": [13, 0], "win_amd64": [10, 0]}
CPUS = {
    "x86_64": {lief.ELF.ARCH.X86_64, lief.MachO.Header.CPU_TYPE.X86_64},
    "aarch64": {lief.ELF.ARCH.AARCH64},
    "arm64": {lief.MachO.Header.CPU_TYPE.ARM64},
    "amd64": {lief.PE.Header.MACHINE_TYPES.AMD64},
}
PYTHON = "Python"  # the library of names that a module does not name a library for

names = [*abi3info.FUNCTIONS.items(), *abi3info.DATAS.items()]
python = {name.name for name, about in names if (about.added.major, about.added.minor) <= (3, 11)}
# musl is 1.2.3 in Debian 12, and has the same names on each CPU. lief frees a module before its
# symbols.
libcs = [lief.parse(path) for path in pathlib.Path("/usr/lib").glob("*-linux-musl/libc.so")]
musl = {symbol.name for libc in libcs for symbol in libc.exported_symbols}


def read_elf(module):
    """Returns the CPU, the names of libraries, the imports, the exports and the oldest system. The
    imports are pairs of a name and what the module says of its origin: a version or a library."""
    imports = []
    for symbol in module.dynamic_symbols:
        if symbol.name and symbol.shndx == 0 and symbol.binding != lief.ELF.Symbol.BINDING.WEAK:
            version = symbol.symbol_version and symbol.symbol_version.symbol_version_auxiliary
            imports.append((symbol.name, version.name if version else ""))
    exports = [symbol.name for symbol in module.exported_symbols]
    return module.header.machine_type, module.libraries, imports, exports, None


def read_macho(module):
    flat_lookup = -2  # the name may be in any library, so in Python's
    exports = [symbol.name.removeprefix("_") for symbol in module.exported_symbols]
    imports = set()
    for binding in module.bindings:
        name = binding.symbol.name.removeprefix("_")
        if binding.has_library:
            imports.add((name, binding.library.name))
        elif binding.library_ordinal == flat_lookup:
            imports.add((name, PYTHON))
        elif name not in exports:  # the others are shared with modules that have the same function
            imports.add((name, "no library"))
    identity = lief.MachO.LoadCommand.TYPE.ID_DYLIB
    libraries = [library.name for library in module.libraries if library.command != identity]
    names = [library.name for library in module.libraries if library.command == identity]
    if names != ["@rpath/_lanebloom.abi3.so"]:
        libraries += names  # such as a path of the machine that built it
    oldest = module.build_version.minos[:2]
    return module.header.cpu_type, libraries, sorted(imports), exports, oldest


def read_pe(module):
    imports = []
    for library in module.imports:
        imports += [(entry.name, library.name) for entry in library.entries]
    exports = [entry.name for entry in module.get_export().entries]
    optional = module.optional_header
    oldest = [optional.major_subsystem_version, optional.minor_subsystem_version]
    libraries = [library.name for library in module.imports]
    return module.header.machine, libraries, imports, exports, oldest


READERS = {lief.ELF.Binary: read_elf, lief.MachO.Binary: read_macho, lief.PE.Binary: read_pe}


def is_good(system, libraries, name, origin):
    """Is this an import, but not of Python, that each system of the platform has?"""
    if system == "manylinux_2_28":
        glibc = re.fullmatch(r"GLIBC_2\.(\d+)[.\d]*", origin)
        return glibc and int(glibc[1]) <= 28
    if system == "musllinux_1_2":
        return name in musl
    return origin in libraries  # the linker found it in the system's list for this version


def check(path):
    platform = path.stem.split("-")[-1]
    system = next(name for name in LIBRARIES if platform.startswith(name))
    with zipfile.ZipFile(path) as archive:
        modules = [name for name in archive.namelist() if re.search(r"\.(so|pyd|dylib|dll)$", name)]
        module = lief.parse(list(archive.read(modules[0])))
    cpu, libraries, imports, exports, oldest = READERS[type(module)](module)
    faults = [f"{name} in it" for name in modules[1:]]
    if not any(platform.endswith(name) and cpu in CPUS[name] for name in CPUS):
        faults.append(f"code for {cpu}")
    faults += [name for name in libraries if not re.fullmatch(LIBRARIES[system], name)]
    if system in OLDEST and list(oldest) > OLDEST[system]:
        faults.append(f"a module for version {oldest}, expected {OLDEST[system]} at most")
    from_python = [name for name, _ in imports if re.match("_?Py", name)]
    faults += [name for name in from_python if name not in python]
    others = [pair for pair in imports if pair[0] not in from_python]
    faults += [" ".join(pair) for pair in others if not is_good(system, libraries, *pair)]
    if exports != ["PyInit__lanebloom"] and (
        system != "macosx_13_0" or "PyInit__lanebloom" not in exports
    ):
        faults.append(f"{len(exports)} exports, expected PyInit__lanebloom alone")
    if min(len(from_python), len(others)) < 20:
        faults.append("too few names")
    for fault in faults:
        print(f"{path.name}: found {fault}", file=sys.stderr)
    print(
        f"{path.name}: {path.stat().st_size} bytes; imports {len(from_python)} names of Python and"
        f" {len(others)} of {', '.join(sorted(set(libraries)))}"
    )
    return not faults


if not all([check(pathlib.Path(path)) for path in sys.argv[1:]]):
    sys.exit(1)
