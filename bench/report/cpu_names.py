"""Names CPUs: the vendor's name, which may stand for many CPUs, and the microarchitecture.
SPDX-License-Identifier: MIT"""

from __future__ import annotations
import re
from itertools import chain

# The models of each family, as Linux numbers them in arch/x86/kernel/cpu/amd.c and
# arch/x86/include/asm/intel-family.h. No family belongs to both vendors.
MODELS = {
    (23, "Zen"): [range(0x00, 0x30), range(0x50, 0x60)],
    (23, "Zen 2"): [range(0x30, 0x50), range(0x60, 0x80), range(0x90, 0x92), range(0xA0, 0xB0)],
    (25, "Zen 3"): [range(0x00, 0x10), range(0x20, 0x60)],
    (25, "Zen 4"): [range(0x10, 0x20), range(0x60, 0xB0)],
    (26, "Zen 5"): [range(0x00, 0x30), range(0x40, 0x50), range(0x60, 0x80)],
    (6, "Haswell"): [[0x3C, 0x3F, 0x45, 0x46]],
    (6, "Broadwell"): [[0x3D, 0x47, 0x4F, 0x56]],
    (6, "Skylake"): [[0x4E, 0x5E]],
    (6, "Kaby Lake"): [[0x8E, 0x9E]],
    (6, "Ice Lake"): [[0x6A, 0x6C, 0x7D, 0x7E]],
    (6, "Tiger Lake"): [[0x8C, 0x8D]],
    (6, "Rocket Lake"): [[0xA7]],
    (6, "Alder Lake"): [[0x97, 0x9A]],
    (6, "Raptor Lake"): [[0xB7, 0xBA, 0xBF]],
    (6, "Sapphire Rapids"): [[0x8F]],
    (6, "Emerald Rapids"): [[0xCF]],
    (6, "Granite Rapids"): [[0xAD, 0xAE]],
    (6, "Sierra Forest"): [[0xAF]],
}
NAMES = {(f, model): name for (f, name), parts in MODELS.items() for model in chain(*parts)}
SERVERS = [(0, "Skylake-SP"), (5, "Cascade Lake"), (10, "Cooper Lake")]  # by first stepping
SERVERS_MODEL = (6, 0x55)


def numbers(context: dict) -> dict[str, int]:
    """Returns the family, the model and the stepping, if the file has them."""
    found = {key: str(context.get(f"cpu_{key}", "")) for key in ("family", "model", "stepping")}
    return {key: int(text) for key, text in found.items() if re.fullmatch(r"[0-9]{1,4}", text)}


def microarchitecture(context: dict) -> str:
    """Returns a name, "" if it is not known. A file may have the name instead of the numbers."""
    of = numbers(context)
    model = of.get("family"), of.get("model")
    if model == SERVERS_MODEL:
        return [name for first, name in SERVERS if first <= of.get("stepping", 0)][-1]
    return NAMES.get(model) or str(context.get("microarchitecture") or "")


def cpu_name(context: dict) -> str:
    """Makes a short name: the vendor's with the microarchitecture or, if unknown, with numbers."""
    name = str(context.get("cpu") or "unnamed CPU")
    name = re.sub(r"\((R|TM)\)|@.*| with .*|\b(\d+-Core )?Processor\b|\bCPU\b", "", name)
    unknown = (f"{key} {number}" for key, number in numbers(context).items() if key != "stepping")
    added = microarchitecture(context) or " ".join(unknown)
    return " ".join(f"{name} {added}".split()) or "unnamed CPU"


def identity(context: dict) -> str:
    """Writes the numbers that the file has: family 25, model 1, stepping 1."""
    return ", ".join(f"{key} {number}" for key, number in numbers(context).items())
