# Runs every verb with each of its system calls made to fail in turn. Either the command prints a
# message and has status 2, or the failure has no effect. The output file is the new one, complete,
# or the old one, and no temporary file is left.
# SPDX-License-Identifier: MIT
load helper
load interpose

make_inputs() {
  numbers 1 3000 >keys
  numbers 2001 4000 >others
  lanebloom build -o filter keys
  numbers 2001 5000 | lanebloom build -o more
  numbers 3001 3010 >few
  sed 's/.*/&,a "note"/' few | lanebloom build -d , -f 1,2 -o pairs
  gzip -k others
  zstd -q others
  { echo 'note,key'; sed 's/.*/"a ""note""",&/' keys; echo lacks; } >rows.csv
  { sed 's/.*/{"note":"a \\"note\\" &","key":"&"}/' keys; echo '{}'; } >rows.jsonl
  with_json=yes
  ! lanebloom hash --jsonl -f key rows.jsonl 2>&1 | grep -q 'without simdjson' || with_json=
  cp "$SOURCE_DIR/tests/vectors/tables/rocksdb_fv5_xxh3_flb10_partitioned.sst" a.sst
  cp "$SOURCE_DIR/tests/vectors/tables/rocksdb_fv5_xxh3_flb10.sst" b.sst
  cp "$SOURCE_DIR/tests/vectors/tables/leveldb_bloom10.ldb" c.ldb
}

# tolerated FUNCTION COMMAND...: prints how else a run may end, in server.c's form. In these runs
# the command does without CURRENT, some data blocks or memory. It may select more records than in a
# run without faults, but loses none.
tolerated() {
  case "$*" in
    "open tables c.ldb" | "malloc tables c.ldb" | *" level" | *" level others")
      echo "0 any *warning: the database's MANIFEST cannot be read*"
      [[ $* != "malloc screen"* ]] || echo "0 lines " ;;
    "pread tables c.ldb") echo "0 any *warning: a data block is damaged or too large*" ;;
    # If a Parquet file or a row group cannot be read, --which prints a message and selects every
    # key in the row group, and --prune prints the file.
    *" screen --parquet"*"--which"*) echo "2 any lanebloom: *" ;;
    *" screen --parquet"*"--prune"*) echo "2 lines ?*" ;;
    *" tables events") echo "2 any lanebloom: *" ;;
    "malloc screen --db"*) echo "0 lines " ;;
  esac
}

# each FUNCTION HOW COMMAND...: runs the command once for every $step-th call of FUNCTION, from the
# $first-th on, and makes that call end as HOW says.
first=1 step=1
each() {
  local function=$1 how=$2 reason="Input/output error"
  shift 2
  [[ $function != m* ]] || reason="[Oo]* memory"
  [[ $how != nothing ]] || reason="No space left on device"
  [[ $how != shrink ]] || reason="@(truncated|damaged|not a lanebloom container)"
  make_normal "$@"
  local -x LANEBLOOM_FAULT_MESSAGE="*lanebloom: *$reason*" LANEBLOOM_FAULT_TOLERATED
  LANEBLOOM_FAULT_TOLERATED=$(tolerated "$function" "$@")
  ! must_fail "$function" "$how" || local -x LANEBLOOM_FAULT_MUST_FAIL=1
  serve "$function" "$how" "$first" "$step" "$@"
}

# Succeeds if each of these faults must be an error.
must_fail() { # FUNCTION HOW
  [[ $1:$2 =~ ^(p?read|write|fsync|linkat|renameat):fail && -z ${may_recover-} ]]
}

# Runs every verb. A verb that goes on after a failed input or table gets only one input or table.
each_verb() {
  nfaults=0 nrefused=0
  local step=3
  ! exhaustive || step=1
  each "$@" build --force -j 1 -o target keys others
  each "$@" build --force -j 2 -o target --expected 5000 keys
  each "$@" build --force -j 1 -o target --format leveldb --raw keys
  each "$@" screen -j 1 filter others
  each "$@" screen -j 2 -n -v filter others
  each "$@" screen -j 1 --filter filter --filter more --which others
  each "$@" screen -j 2 --filter filter --filter more -v others
  each "$@" screen -j 1 -o target --unmatched rest filter others
  each "$@" screen -j 2 --unmatched target filter others
  each "$@" match -j 1 --annotate --summary-file /dev/null -o target keys others
  each "$@" match -j 1 --keys-csv --keys-field key,note --missing=drop rows.csv others
  each "$@" add -j 1 target few
  each "$@" merge --force -o target filter more
  each "$@" verify filter more
  each "$@" plan --keys 1M --rate 1%
  each "$@" match -j 1 keys others
  each "$@" screen -j 1 --csv -f key,note --missing=drop -v pairs rows.csv
  each "$@" build --force -j 2 --csv -f key,note --missing=drop -o target rows.csv
  each "$@" build --force -j 2 --trim --lower -o target keys
  each "$@" match -j 1 --lower keys others
  each "$@" screen -j 2 -n filter others.gz
  each "$@" screen -j 1 -v filter others.zst
  each "$@" build --force -j 2 -o target others.gz keys others.zst
  each "$@" match -j 1 others.gz others.zst
  if [[ -n $with_json ]]; then
    each "$@" screen -j 1 --jsonl -f key,note --missing=drop -v pairs rows.jsonl
    each "$@" match -j 1 --jsonl -f note keys rows.jsonl
    each "$@" build --force -j 2 --jsonl -f /key --missing=drop -o target rows.jsonl
  fi
  each "$@" info filter
  each "$@" info --json filter
  each "$@" hash others
  each "$@" tables a.sst
  each "$@" tables --json b.sst
  each "$@" tables c.ldb
  each "$@" extract --force b.sst -o target
  each "$@" screen --db a.sst --db b.sst others
  each "$@" screen --db a.sst --db b.sst --which others
  echo "# $*: $nfaults faults, $nrefused of them errors, the others without effect" >&3
  [[ $nfaults -gt 0 ]] # otherwise no fault was made
  ! must_fail "$@" || [[ $nrefused -eq $nfaults ]]
}

@test "memory" {
  needs_interposing
  make_inputs
  each_verb malloc fail
  nfaults=0 nrefused=0
  lanebloom build -o large --expected 3000000 keys
  each mmap fail build --force -j 1 -o target --expected 3000000 keys
  each mmap fail screen large others
  [[ $nfaults -eq 2 && $nrefused -eq 2 ]]
  nfaults=0 nrefused=0
  each mmap fail merge --force -o target large large # a file that cannot be mapped is read
  [[ $nfaults -gt 2 && $nrefused -eq 1 ]]
}

@test "memory, for the names of formats" {
  needs_interposing
  local n whole
  run_with "none 1 fail" build --format xx
  whole=$errors
  [[ $status -eq 2 && $whole == *rocksdb-local* ]]
  for ((n = 1;; n++)); do
    run_with "malloc $n fail" build --format xx
    [[ -s reached ]] || break
    [[ $status -eq 2 && ($whole == "${errors:-none}"* || $errors == *memory*) ]]
  done
  [[ $n -gt 5 ]]
}

# There is room for the lists of only the first hits. Later records are screened again when they are
# printed. If memory failed only in the first screening, a record may have been selected that is in
# no table.
@test "memory, for batches that are screened again to be printed" {
  needs_interposing
  mkdir many
  cp "$SOURCE_DIR/tests/vectors/tables/rocksdb_fv5_xxh3_flb10.sst" table
  for i in {10..29}; do
    ln table many/$i.sst
  done
  yes '~' | head -n 27000 >rows # 540,000 hits
  : >none
  for i in {1..3000}; do
    printf '~\n\x7fabsent%d\n' $i
  done >>rows
  local command=(screen -j 1 -n --db many --which) nfaults=0 nrefused=0
  serve malloc none 1 1 "${command[@]}" none
  local first=$((ncalls + 1))
  each malloc fail "${command[@]}" rows
  echo "# malloc: $nfaults faults, $nrefused of them errors, the others without effect" >&3
  [[ $nfaults -gt 40 && $nrefused -lt 10 ]]
}

# With 64 filters or more, the keys of a whole chunk are copied and screened together.
@test "memory, for the keys of a chunk" {
  needs_interposing
  make_inputs
  local command=(screen -j 1 -c --filters-from names) nfaults=0 nrefused=0
  mkdir same
  for i in {1..64}; do
    cp filter same/$i
    echo same/$i
  done >names
  : >none
  serve malloc none 1 1 "${command[@]}" none
  local first=$((ncalls + 1))
  each malloc fail "${command[@]}" others
  echo "# malloc: $nfaults faults, $nrefused of them errors, the others without effect" >&3
  [[ $nrefused -ge 2 ]] # offsets and bytes
}

@test "threads that cannot be had" {
  needs_interposing
  make_inputs
  numbers 1 300000 >many # several chunks
  nfaults=0 nrefused=0
  each thread fail build --force -j 3 -o target many
  each thread fail-on screen -j 3 filter many
  [[ $nfaults -gt 2 && $nrefused -eq 0 ]]
}

@test "reading and writing" {
  needs_interposing
  make_inputs
  for function in read pread write; do
    each_verb $function fail
    each_verb $function interrupt
    each_verb $function short
  done
}

# If the command repeated the call, it would never end.
@test "writes that write nothing" {
  needs_interposing
  make_inputs
  each_verb write nothing
  [[ $nrefused -eq $nfaults ]]
}

@test "opening, flushing, naming, closing" {
  needs_interposing
  make_inputs
  for function in open openat fstat fsync linkat renameat fchmod close; do
    each_verb $function fail
  done
  nfaults=0
  each getentropy fail build --force -o target keys
  [[ $nfaults -eq 1 ]]
  export LANEBLOOM_FAULT_NAMED=1
  for function in openat write fsync renameat fchmod close; do
    each_verb $function fail
  done
}

@test "files that become shorter while they are read" {
  needs_interposing
  make_inputs
  lanebloom build -o raw --format leveldb --raw keys
  mkdir kept
  cp keys others others.* few filter more pairs raw rows.* *.sst *.ldb kept
  each_verb read shrink
  each_verb pread shrink
  nfaults=0 nrefused=0
  each read shrink info --raw --format leveldb raw
  each read shrink screen --raw --format leveldb raw others
  each read shrink build --force -o target --width 6 keys
  [[ $nrefused -eq 4 ]] # one for each file that is cut before its end
  nfaults=0 nrefused=0
  each mmap shrink verify filter more
  each mmap shrink merge --force -o target filter more
  each mmap shrink add -j 1 target few
  each mmap shrink screen -j 1 others filter # FILTER and INPUT are exchanged
  each mmap shrink screen -j 1 --db filter others
  [[ $nrefused -eq 7 ]] # once for each filter that is mapped
}

# The command knows the engine of a folder without the file OPTIONS. If any other file cannot be
# read, that is an error.
@test "databases: their logs, MANIFEST and tables" {
  needs_interposing
  [[ -n ${DATABASES-} ]] || skip "this build has no LevelDB and RocksDB"
  "$DATABASES" make leveldb-small level
  "$DATABASES" make rocksdb-small rock
  seq -f 'key-00%06.0f' 0 30 >others
  seq -f 'key-0000%06.0f' 0 30 >>others
  local may_recover=yes step=3
  ! exhaustive || step=1
  nfaults=0 nrefused=0
  for fault in "malloc fail" "pread fail" "pread interrupt" "pread short" "open fail" "fstat fail" \
    "close fail"; do
    each $fault screen --db level others
    each $fault screen --db rock --which others
    each $fault tables --json level
    each $fault tables rock
  done
  echo "# databases: $nfaults faults, $nrefused of them errors, the others without effect" >&3
  [[ $nfaults -gt 100 && $nrefused -gt 50 ]]
}

# A file that cannot be read may hold every key, and the exit status reports such a file.
@test "Parquet files" {
  needs_interposing
  mkdir -p events/day=1
  cp "$SOURCE_DIR/tests/vectors/parquet/arrow_rs.parquet" events/a.parquet
  cp "$SOURCE_DIR/tests/vectors/parquet/parquet_mr.parquet" events/day=1/b.parquet
  seq -f 'key %.0f' 0 30 >others
  local may_recover=yes step=5
  ! exhaustive || step=1
  nfaults=0 nrefused=0
  for fault in "malloc fail" "pread fail" "pread interrupt" "pread short" "open fail" "fstat fail" \
    "close fail" "write fail"; do
    each $fault screen --parquet events --column text -o target others
    each $fault screen --parquet events --column text --which -j 1 others
    each $fault screen --parquet events --column text --prune others
    each $fault tables events
  done
  echo "# Parquet: $nfaults faults, $nrefused of them errors that end the command" >&3
  [[ $nfaults -gt 100 && $nrefused -gt 10 ]]
}

@test "a table with a Ribbon filter" {
  needs_interposing
  [[ -n ${DATABASES-} ]] || skip "this build has no LevelDB and RocksDB"
  "$DATABASES" make rocksdb-ribbon rock
  cp rock/*.sst ribbon.sst
  seq -f 'table00%04.0f' 2900 3100 >others
  local may_recover=yes
  nfaults=0 nrefused=0
  for fault in "malloc fail" "pread fail" "pread interrupt" "pread short" "write fail" "open fail" \
    "fstat fail" "fsync fail" "close fail"; do
    each $fault extract --force ribbon.sst -o target
    each $fault screen --db ribbon.sst --which others
    each $fault tables --json ribbon.sst
  done
  mkdir kept
  cp ribbon.sst others kept
  each pread shrink extract --force ribbon.sst -o target
  echo "# ribbon: $nfaults faults, $nrefused of them errors, the others without effect" >&3
  [[ $nfaults -gt 100 && $nrefused -gt 50 ]]
}

@test "databases of Pebble: two folders of logs, a table that a log names" {
  needs_interposing
  cp -r "$SOURCE_DIR/tests/vectors/databases/pebble_v1" one
  cp -r "$SOURCE_DIR/tests/vectors/databases/pebble_v2" two
  chmod -R u+w one two
  sort "$SOURCE_DIR"/tests/vectors/databases/*.keys >others
  local may_recover=yes step=3
  ! exhaustive || step=1
  nfaults=0 nrefused=0
  for fault in "malloc fail" "pread fail" "pread interrupt" "pread short" "open fail" "fstat fail" \
    "close fail"; do
    each $fault screen --db one others
    each $fault tables --json two
  done
  echo "# databases of Pebble: $nfaults faults, $nrefused of them errors" >&3
  [[ $nfaults -gt 50 && $nrefused -gt 25 ]]
}

# All workers read the file. If the end of a chunk cannot be read in advance, one worker reads the
# whole chunk.
@test "large files that several workers read" {
  needs_interposing
  numbers 1 200000 >keys # 2.6 MB
  lanebloom build -o filter keys
  mkdir kept
  cp keys kept
  local may_recover=1
  for how in fail interrupt short shrink; do
    nfaults=0 nrefused=0
    each pread $how screen -j 2 filter keys
    each pread $how screen -j 1 --width 13 filter keys
    each pread $how build --force -j 3 -o target keys
    echo "# pread $how: $nfaults faults, $nrefused of them errors" >&3
    [[ $nfaults -gt 15 ]]
    [[ $how == @(interrupt|short) || $nrefused -ge 7 ]]
  done
  cp kept/keys .
  make_normal screen -j 2 filter keys
  run_with "pread 3 overwrite" screen -j 2 filter keys
  [[ $status -eq 2 && $errors == "lanebloom: keys: the file changed while it was read" ]]
  [[ -s reached && $(stat -c %s out) -lt 600000 && $(wc -l <err) -eq 1 ]]
  cmp -n "$(stat -c %s out)" out "$LANEBLOOM_FAULT_NORMAL/out"
  holds target 'old\n'
}

@test "output that ends anywhere" {
  make_inputs
  nlimits=0
  local step=5
  ! exhaustive || step=1
  for command in "hash keys" "screen filter keys" "screen -n filter keys" \
    "screen --which --db c.ldb --db b.sst keys"; do
    lanebloom $command >whole
    size=$(stat -c %s whole)
    # Each of stdio's writes is cut short, and the next one fails.
    for ((limit = 1; limit * 1024 < size; limit += step)); do
      status=0
      (ulimit -f $limit && exec "$LANEBLOOM" $command >part 2>err) || status=$?
      [[ $status -eq 2 && $(<err) == "lanebloom: write error: File too large" ]]
      [[ $(cmp part whole 2>&1) == *"EOF on part after byte $((limit * 1024)),"* ]]
      nlimits=$((nlimits + 1))
    done
  done
  echo "# output: cut short at $nlimits sizes" >&3
  [[ $nlimits -gt $((100 / step)) ]]
}
