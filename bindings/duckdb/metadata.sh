#!/bin/sh
# metadata.sh LIBRARY VERSION PLATFORM EXTENSION: writes the file EXTENSION, which DuckDB loads.
# EXTENSION is a copy of LIBRARY, followed by the metadata that DuckDB reads first. Source: DuckDB's
# scripts/append_extension_metadata.py.
# SPDX-License-Identifier: MIT
set -eu
library=$1 version=$2 platform=$3 extension=$4

zeros() { # N
  head -c "$1" /dev/zero
}

field() { # TEXT: 32 bytes
  printf '%s' "$1"
  zeros $((32 - ${#1}))
}

# The metadata has the form of a section of WebAssembly: a name, and 512 bytes. The fields are in
# reverse order: three unused fields, the ABI, the version of the extension, the version of the C
# API, the platform and a magic number. The signature follows the fields; 256 zeros mean that there
# is no signature.
{
  cat "$library"
  printf '\000\223\004\020duckdb_signature\200\004'
  zeros 96
  field C_STRUCT
  field "$version"
  field v1.2.0
  field "$platform"
  field 4
  zeros 256
} >"$extension.new"
mv "$extension.new" "$extension"
