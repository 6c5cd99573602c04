# SPDX-License-Identifier: MIT
# What the extension module has; its docstrings say what it does.
import os
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol, SupportsFloat, SupportsIndex, TypeAlias, final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class _NumpyArray(Protocol):
    def __array__(self) -> NDArray[Any]: ...

Key: TypeAlias = str | bytes | int | UUID
Keys: TypeAlias = _ArrowArray | _ArrowStream | _NumpyArray | NDArray[Any] | Iterable[Key | None]
Bytes: TypeAlias = bytes | bytearray | memoryview
Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Count: TypeAlias = SupportsIndex | float | None

__version__: str

class Error(ValueError): ...

class FilterInfo(NamedTuple):
    format: str
    form: str
    nkeys: int | None
    nkeys_estimate: int | None
    bits_per_key: float | None
    nprobes: int
    nbits: int
    nbits_set: int
    rate: float
    size: int

@final
class Filter:
    @staticmethod
    def build(
        keys: Keys,
        bits_per_key: SupportsFloat | None = ...,
        *,
        rate: SupportsFloat | None = ...,
        format: str = ...,
        form: str | None = ...,
        expected: Count = ...,
    ) -> Filter: ...
    @staticmethod
    def load(path: Path, *, form: str | None = ...) -> Filter: ...
    @staticmethod
    def map(path: Path, *, form: str | None = ...) -> Filter: ...
    @staticmethod
    def load_raw(
        path: Path,
        format: str,
        *,
        form: str | None = ...,
        nkeys: Count = ...,
        bits_per_key: SupportsFloat | None = ...,
    ) -> Filter: ...
    @staticmethod
    def parse(data: Bytes, *, form: str | None = ...) -> Filter: ...
    @staticmethod
    def parse_raw(
        data: Bytes,
        format: str,
        *,
        form: str | None = ...,
        nkeys: Count = ...,
        bits_per_key: SupportsFloat | None = ...,
    ) -> Filter: ...
    @staticmethod
    def merge(filters: Iterable[Filter], /) -> Filter: ...
    def save(self, path: Path, /) -> None: ...
    def save_raw(self, path: Path, /) -> None: ...
    def to_bytes(self) -> bytes: ...
    def screen(self, keys: Keys, /) -> NDArray[np.bool_]: ...
    def bitmap(self, keys: Keys, /) -> NDArray[np.uint8]: ...
    def select(self, keys: Keys, /) -> NDArray[np.int64]: ...
    def count(self, keys: Keys, /) -> int: ...
    def hash(self, keys: Keys, /) -> NDArray[np.uint32] | NDArray[np.uint64]: ...
    def __contains__(self, key: Key, /) -> bool: ...
    def __or__(self, other: Filter, /) -> Filter: ...
    def __eq__(self, other: object, /) -> bool: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...
    @property
    def bytes(self) -> memoryview: ...
    @property
    def form(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def info(self) -> FilterInfo: ...

@final
class Builder:
    def __new__(
        cls,
        expected: Count = ...,
        bits_per_key: SupportsFloat | None = ...,
        *,
        rate: SupportsFloat | None = ...,
        format: str = ...,
        form: str | None = ...,
    ) -> Builder: ...
    def add(self, keys: Keys, /) -> None: ...
    def merge(self, other: Builder, /) -> None: ...
    def finish(self) -> Filter: ...

@final
class Database:
    def __new__(cls, path: Path, *, writer: str | None = ...) -> Database: ...
    def screen(self, keys: Keys, /) -> NDArray[np.bool_]: ...

def hash(keys: Keys, format: str = ...) -> NDArray[np.uint32] | NDArray[np.uint64]: ...
def formats() -> list[str]: ...
def kernels() -> list[str]: ...
def use_kernel(name: str | None, /) -> None: ...
def parquet_row_groups(path: Path, column: str, keys: Keys, bounds: str, /) -> list[int]: ...
