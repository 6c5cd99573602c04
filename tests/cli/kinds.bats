# Files and folders of the wrong kind as arguments. Each message states the kind and the command
# that reads it.
# SPDX-License-Identifier: MIT
load helper

VECTORS=$BATS_TEST_DIRNAME/../vectors
DESCRIBES="\`lanebloom tables' describes it"
TABLE="a table of LevelDB, RocksDB or Pebble: $DESCRIBES, \`extract' saves its filter, and"
TABLE+=" \`screen --db' queries it"
PARQUET="a Parquet file: $DESCRIBES, and \`lanebloom screen --parquet' queries it"
FOLDER="Is a directory; name the files in it; \`screen --db' queries the tables of a database, and"
FOLDER+=" \`screen --parquet' the Parquet files of a folder"

make_files() {
  numbers 1 5 >keys
  lanebloom build -o filter keys
  cp "$VECTORS/tables/leveldb_bloom10.ldb" t.ldb
  cp "$VECTORS/tables/rocksdb_fv5_xxh3_flb10.sst" t.sst
  cp "$VECTORS/tables_odd/pebble_v5.sst" p.sst
  cp "$VECTORS/parquet/arrow_rs.parquet" x.parquet
  mkdir tables events empty
  cp t.sst tables/000004.sst
  cp x.parquet events
  cp -r "$VECTORS/databases/pebble_v1" db
}

# Prints the last bytes of tables: of LevelDB, RocksDB and Pebble, and of RocksDB's plain, old plain
# and cuckoo tables.
ends() {
  cat <<'END_OF_ENDS'
\x57\xfb\x80\x8b\x24\x75\x47\xdb
\x05\0\0\0\xf7\xcf\xf4\x85\xb7\x41\xe2\x88
\x05\0\0\0\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3
\x64\x95\xbf\x63\x96\x22\x42\x82
\xb8\x13\x8f\x7a\xeb\x18\x34\x4f
\x73\x78\xf1\xc5\xd0\x89\x67\x92
END_OF_ENDS
}

@test "tables are no records: as KEYS, and as INPUT that is a file" {
  make_files
  n=0
  while read -r end; do
    { cat keys; printf "$end"; } >"end$((n++)).sst"
  done < <(ends)
  for file in t.ldb t.sst p.sst end*.sst; do
    for options in "" -z "--csv --no-header -f 1"; do
      fails_with "$file: expected records, found $TABLE" lanebloom screen $options filter $file
      fails_with "$file: expected records, found $TABLE" lanebloom build $options -o other $file
    done
    fails_with "$file: expected records, found $TABLE" lanebloom match $file keys
    fails_with "$file: expected records, found $TABLE" lanebloom match -z $file keys
    fails_with "$file: expected records, found $TABLE" lanebloom match keys $file
    fails_with "$file: expected records, found $TABLE" lanebloom hash $file
    fails_with "$file: expected records, found $TABLE" lanebloom add filter $file
    fails_with "(standard input): expected records, found $TABLE" lanebloom match keys <$file
    fails_with "(standard input): expected records, found $TABLE" \
      lanebloom match - keys < <(cat $file)
    lanebloom hash --width 1 $file >/dev/null # any bytes may be records of fixed width
    lanebloom match --width 1 -c $file $file >/dev/null
  done
  gzip -k t.sst
  fails_with "t.sst.gz: expected records, found $TABLE" lanebloom match t.sst.gz keys
  [[ ! -e other ]]
}

@test "what a pipe ends in is not waited for, and text that ends like a table is text" {
  make_files
  mkfifo pipe
  exec 9<>pipe
  printf 'key-00000001\n\x57\xfb\x80\x8b\x24\x75\x47\xdb' >&9
  [[ $(timeout 5 "$LANEBLOOM" match -m 1 keys <&9) == key-00000001 ]]
  run -1 --separate-stderr lanebloom match keys - < <(cat t.sst)
  [[ -z $output && $stderr == *"warning: found NUL bytes"* ]]
  printf 'a pest: \xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3' >text
  [[ $(lanebloom match -c text text) == 1 ]]
  printf '\x57\xfb\x80\x8b\x24\x75\x47\xdb\n' >text
  [[ $(lanebloom match -c text text) == 1 ]]
}

@test "tables and Parquet files are no filters" {
  make_files
  for file in t.ldb:"$TABLE" t.sst:"$TABLE" p.sst:"$TABLE" x.parquet:"$PARQUET"; do
    found="expected a lanebloom container, found ${file#*:}"
    file=${file%%:*}
    for command in "info $file" "screen $file keys" "screen --filter $file keys" "add $file keys" \
      "merge -o other filter $file" "hash --filter $file keys"; do
      fails_with "$file: $found" lanebloom $command
    done
    fails_with "(standard input): $found" lanebloom info - <$file
    run -1 --separate-stderr lanebloom verify $file filter
    [[ -z $stderr && $output == "$file: $found"$'\n'"filter: ok" ]]
  done
  run -2 --separate-stderr lanebloom info keys # only match may read this file
  [[ $stderr == *"keys: not a lanebloom container: "*"\`lanebloom match' takes a file of keys"* ]]
}

@test "--db and --parquet name each other" {
  make_files
  lists="\`lanebloom tables' lists its tables, and \`lanebloom screen --db' queries them"
  for folder in db tables; do
    fails_with "$folder: expected Parquet files, found a folder of a database: $lists" \
      lanebloom screen --parquet $folder --column k keys
    fails_with "$folder: expected a table, found a folder of a database: $lists" \
      lanebloom extract $folder -o other
  done
  for file in t.ldb t.sst p.sst; do
    fails_with "$file: expected a Parquet file, found $TABLE" \
      lanebloom screen --parquet $file --column k keys
  done
  fails_with "filter: expected a Parquet file, found a lanebloom container: \`lanebloom info'" \
    lanebloom screen --parquet filter --column k keys
  fails_with "events: expected a folder with .ldb or .sst files, found a folder of Parquet files:" \
    lanebloom screen --db events keys
  [[ $stderr == *"\`lanebloom screen --parquet' queries them" ]]
  fails_with "x.parquet: expected a table, found $PARQUET" lanebloom screen --db x.parquet keys
  fails_with "x.parquet: expected a table, found $PARQUET" lanebloom extract x.parquet -o other
  fails_with "empty: expected a folder with .ldb or .sst files, found none in it" \
    lanebloom screen --db empty keys
  fails_with "empty: expected a folder with Parquet files, found none in it" \
    lanebloom screen --parquet empty --column k keys
  head -c 100 x.parquet >cut.parquet # although damaged, it counts as a Parquet file
  fails_with 'cut.parquet: not a Parquet file, or one' \
    lanebloom screen --parquet cut.parquet --column k keys
  [[ ! -e other ]]
}

@test "other files of a database: the folder is to be given" {
  make_files
  found="expected a table, found another file of a database: give its folder,"
  touch db/{IDENTITY,LOCK,LOG,LOG.old}
  for file in db/{CURRENT,MANIFEST-000001,OPTIONS-000003,000004.log,IDENTITY,LOCK,LOG,LOG.old}; do
    for command in "screen --db $file keys" "tables $file" "extract $file -o other"; do
      fails_with "$file: $found db/" lanebloom $command
    done
  done
  cd db
  fails_with "CURRENT: $found ./" lanebloom tables CURRENT
  cd ..
  rm t.ldb t.sst p.sst
  cp db/CURRENT LOCK
  cp keys db
  for file in LOCK db/keys; do # LOCK is outside the database, and keys is no file of an engine
    fails_with "$file: not a table, or one" lanebloom tables $file
  done
}

@test "a folder without CURRENT is no database" {
  make_files
  mkdir logs incomplete
  cp db/*.log logs
  cp t.ldb incomplete/000005.ldb
  touch incomplete/MANIFEST-000002
  no="a folder without it is no database: name a folder of logs by --wal-dir, and its database"
  for folder in logs incomplete; do
    for verb in tables "screen --db"; do
      fails_with "$folder: CURRENT: No such file or directory ($no by --db; --all-files reads all" \
        lanebloom $verb $folder
    done
  done
  fails_with "db: none: No such file or directory (--wal-dir names a folder of logs;" \
    lanebloom tables --wal-dir none db
}

@test "folders are no inputs and no filters" {
  make_files
  for folder in db events empty; do
    for command in "build -o other $folder" "match $folder keys" "match keys $folder" \
      "hash $folder" "screen filter $folder" "add filter $folder" "screen $folder keys" \
      "info $folder" "verify $folder" "merge -o other $folder"; do
      fails_with "$folder: $FOLDER" lanebloom $command
    done
  done
  refuses "expected a FILTER, --db PATH or --parquet PATH, found none" lanebloom screen
  refuses "expected -o FILE, the file to write; found none" lanebloom build keys k2
  [[ ! -e other ]]
}

@test "tables: what does not exist is neither a table nor a Parquet file" {
  make_files
  for names in missing "db missing" "missing events"; do
    fails_with "missing: No such file or directory" lanebloom tables --summary $names
  done
  fails_with "missing: No such file or directory" lanebloom tables events missing
  fails_with "db: expected Parquet files, which --summary adds up, found none" \
    lanebloom tables --summary db
  run -2 --separate-stderr lanebloom tables missing db
  [[ $stderr == *"missing: No such file or directory" && $output == *db/000005.sst* ]]
}

@test "zip archives, and documents that are such archives" {
  make_files
  python3 - <<'END'
import zipfile
for name, first, text in (
    ("x.zip", "keys", "1\n"), ("a.zip", "mimetype", "application/epub+zip" + "." * 50),
    ("b.zip", "keys/xl/word", "1\n"),
    ("x.xlsx", "[Content_Types].xml", "<Types/>"), ("a.xlsx", "_rels/.rels", "<R/>"),
    ("b.xlsx", "xl/workbook.xml", "<w/>"), ("c.xlsx", "docProps/app.xml", "<P/>"),
    ("x.docx", "word/document.xml", "<d/>"), ("x.pptx", "ppt/presentation.xml", "<p/>"),
    ("x.ods", "mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
):
    with zipfile.ZipFile(name, "w") as archive:
        archive.writestr(first, text)
END
  document="expected records, found a document that is a zip archive (.xlsx, .docx, .ods): a spread"
  for file in {x,a,b}.zip:"expected records, found a zip archive: run unzip -p FILE | lanebloom" \
    {x,a,b,c}.xlsx:"$document" x.{docx,pptx,ods}:"$document"; do
    found=${file#*:}
    file=${file%%:*}
    fails_with "$file: $found" lanebloom match $file keys
    fails_with "$file: $found" lanebloom match keys $file
    fails_with "(standard input): $found" lanebloom match - keys <$file
    fails_with "(standard input): $found" lanebloom match - keys < <(cat $file)
    fails_with "(standard input): $found" lanebloom hash < <(cat $file)
  done
  fails_with "found a zip archive" lanebloom hash < <(head -c 20 x.ods)
}
