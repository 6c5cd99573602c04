#!/usr/bin/env python3
"""Writes Parquet files with the filters of Apache Hudi in their footers: files.py FOLDER, which has
the files that Make.java wrote.
SPDX-License-Identifier: MIT"""

import pathlib
import sys

import pyarrow
import pyarrow.parquet

folder = pathlib.Path(sys.argv[1])
for path in sorted(folder.glob("*.filter")):
    keys = path.with_suffix(".added").read_text(encoding="utf-8").splitlines()
    is_dynamic = path.stem in ("one-row", "rows", "overfull")
    metadata = {
        "hoodie_min_record_key": min(keys, key=lambda key: key.encode("utf-16-be")),
        "hoodie_max_record_key": max(keys, key=lambda key: key.encode("utf-16-be")),
        "org.apache.hudi.bloomfilter": path.read_text().strip(),
    }
    if is_dynamic:
        metadata["hoodie_bloom_filter_type_code"] = "DYNAMIC_V0"
    if path.stem == "crowded":  # as Hudi did before it belonged to Apache
        metadata["com.uber.hoodie.bloomfilter"] = metadata.pop("org.apache.hudi.bloomfilter")
    table = pyarrow.table({"_hoodie_record_key": keys, "row": range(len(keys))})
    pyarrow.parquet.write_table(
        table.replace_schema_metadata(metadata),
        path.with_suffix(".parquet"),
        row_group_size=20000,
        write_statistics=False,
    )
