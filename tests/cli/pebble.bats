# lanebloom screen --db: frozen databases of Pebble, and databases that the real Pebble writes.
# SPDX-License-Identifier: MIT
load helper

export LC_ALL=C # keys are bytes
FROZEN=$BATS_TEST_DIRNAME/../vectors/databases

# takes FOLDER: copies a frozen database and its keys, so that tests may change them.
takes() {
  rm -rf db
  cp -r "$FROZEN/$1" db
  chmod -R u+w db
  cp "$FROZEN/$1.keys" wanted
}

# finds_all ARGUMENT...: checks that all wanted keys are found. Tables may lack filters; no other
# warning is printed.
finds_all() {
  lanebloom screen "$@" wanted >found 2>err
  cmp wanted found
  ! grep -v "have no filter" err
}

# nlogged FOLDER OPTION...: prints the number of entries in the database's logs.
nlogged() {
  lanebloom tables --json "$@" 2>/dev/null | jq 'select(.file == "(log)") | .entries'
}

# damage FILE OFFSET: changes the byte at this offset.
damage() {
  printf '\xa5' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "frozen databases: their keys are found, absent ones are not; others' tables are not asked" {
  seq -f 'absent%06.0f' 1000 >absent
  for folder in "$FROZEN"/pebble_*/; do
    name=$(basename "$folder")
    takes $name
    echo text >db/999999.sst
    finds_all --db db
    run --separate-stderr lanebloom screen -c --db db absent
    [[ $output -lt 30 ]]
    [[ $(lanebloom tables --json db 2>/dev/null |
      jq -r 'select(.file == "(log)") | .engine, .database.manifest, .database.complete') == \
      $'pebble\nMANIFEST-00000'[18]$'\ntrue' ]]
  done
  # The logs hold some of the keys, so a lost log would make this test fail.
  takes pebble_v2
  run --separate-stderr lanebloom screen -c --db db --all-files wanted
  [[ $output -lt $(wc -l <wanted) ]]
}

@test "a table that a log alone names" {
  for name in pebble_v1 pebble_v2 pebble_30; do
    takes $name
    table=$(lanebloom tables --json db 2>/dev/null | jq -r 'select(.level == 0) | .file')
    [[ $(lanebloom screen --which --db db <<<log000024 2>/dev/null) == "$table"$'\tlog000024' ]]
    rm "$table"
    fails_with "expected a table of the database, found none" \
      lanebloom screen --db db wanted
  done
}

@test "files that a repository keeps elsewhere are named" {
  takes pebble_v1
  for file in db/MANIFEST-* db/OPTIONS-* db/*.log db/*.sst; do
    names_pointer "$file" lanebloom screen --db db <<<log000024
  done
}

@test "two parts of a table in one file: it is asked once" {
  takes pebble_v2
  [[ $(lanebloom screen --which --db db <<<table000001 2>/dev/null) == \
    $'db/000005.sst\ttable000001' ]]
  [[ $(lanebloom tables --no-header db 2>/dev/null | grep -c 000005) -eq 1 ]]
}

@test "the marker with the highest number names the MANIFEST; in the first format CURRENT does" {
  takes pebble_v1
  touch db/marker.manifest.000000.MANIFEST-000007
  finds_all --db db
  touch db/marker.manifest.000002.MANIFEST-000007
  fails_with "MANIFEST-000007: No such file or directory" lanebloom screen --db db wanted
  takes pebble_v1_current
  touch db/marker.manifest.000002.MANIFEST-000007 # as if Pebble were about to change the format
  finds_all --db db
  rm db/CURRENT
  fails_with "MANIFEST-000007: No such file or directory" lanebloom screen --db db wanted
}

@test "logs in two folders, or where the user says" {
  takes pebble_v2
  finds_all --db db
  mv db/second elsewhere
  fails_with "expected the folder of logs that OPTIONS names as secondary_dir, 'db/second'" \
    lanebloom screen --db db wanted
  mkdir together
  cp db/*.log elsewhere/*.log together
  finds_all --db db --wal-dir together
  all=$(nlogged db --wal-dir together)
  mkdir db/second # exists, but is empty
  [[ $(nlogged db) -gt 0 && $(nlogged db) -lt $all ]]
}

@test "damage: silent where Pebble takes it for the end, else named, and the rest is read" {
  takes pebble_v1_current
  truncate -s -5 db/000004.log
  run -0 --separate-stderr lanebloom screen --db db wanted
  [[ -z $stderr ]]
  takes pebble_v1_current
  damage db/000004.log 100 # nothing records that this part was on disk
  run -0 --separate-stderr lanebloom screen --db db wanted
  [[ -z $stderr && $output != *log000019* ]]
  takes pebble_v2
  truncate -s -13 db/second/000004-003.log # the log continues in another file
  run -0 --separate-stderr lanebloom screen --db db wanted
  [[ $stderr != *damaged* ]]
  truncate -s -13 db/000004-004.log # this is the log's last file, and another log follows
  run -2 --separate-stderr lanebloom screen --db db wanted
  [[ $stderr == *"db/000004-004.log: damaged at its end: expected a whole record before the next \
log, found an incomplete one"* && $output == *log000000* ]]
  takes pebble_v1
  damage db/MANIFEST-000001 10
  fails_with "MANIFEST-000001: damaged at 0: expected another checksum" \
    lanebloom screen --db db wanted
  lanebloom screen --all-files --db db <<<table000001 # needs no MANIFEST
}

@test "a table with a damaged byte is refused, or its keys are found" {
  for table in pebble_21/000005 pebble_25/000005 pebble_30/000013; do
    cp "$FROZEN/$table.sst" whole.sst
    lanebloom screen --db whole.sst "$FROZEN/${table%/*}.keys" >wanted
    for ((at = 0; at < $(stat -c %s whole.sst); at += 97)); do
      cp whole.sst damaged.sst
      damage damaged.sst $at
      status=0
      lanebloom screen --db damaged.sst wanted >found 2>err || status=$?
      [[ $status -eq 2 && -s err ]] || cmp wanted found || { echo "$table: $at"; return 1; }
    done
  done
}

# The tests below need Go and, for their first run, the network, so the quick round skips them.
# go.mod states the version of each module, and Go checks the modules against its public list of
# checksums.
needs_pebble() {
  exhaustive || skip "only if LANEBLOOM_EXHAUSTIVE=1"
  lanebloom --version | grep -q '^tables:.* snappy zstd' || skip "this build lacks codecs"
  command -v go >/dev/null || skip "no go runs here"
  PEBBLE=$BATS_FILE_TMPDIR/test_pebble
  [[ ! -x $PEBBLE ]] || return 0
  why=$BATS_FILE_TMPDIR/why # all tests of this file share it
  [[ ! -e $why ]] || skip "Pebble cannot be built: $(tail -n 1 "$why")"
  cp -r "$BATS_TEST_DIRNAME/../databases/pebble" source
  (cd source && GOTOOLCHAIN=local GOFLAGS=-mod=mod DOWNLOAD_UNTIL=$(($(date +%s) + 600)) \
    "$BATS_TEST_DIRNAME/../../scripts/download.sh" go build -o "$PEBBLE" .) 2>log ||
    { cp log "$why"; skip "Pebble cannot be built: $(tail -n 1 "$why")"; }
}

@test "the real Pebble: every key that it shows is found; of absent ones what filters let pass" {
  needs_pebble
  printf '\1\n\377\n' >outside # of all ranges of keys
  nkinds=0
  for kind in $("$PEBBLE" kinds); do
    "$PEBBLE" make $kind $kind
    "$PEBBLE" keys $kind $kind >wanted
    sed 's/$/!/' wanted >absent # within the ranges of keys
    echo "$kind: $(wc -l <wanted)"
    echo text >$kind/999999.sst
    finds_all --db $kind
    run -1 --separate-stderr lanebloom screen --db $kind outside
    lanebloom tables --json $kind 2>/dev/null | jq 'select(.level != null).version' >versions
    cat versions >>all_versions
    nprobes=$(($(wc -l <absent) * $(wc -l <versions)))
    n=$(lanebloom screen -c --db $kind absent 2>/dev/null) || true
    echo "$n of $nprobes"
    case $kind in
      v2-*-none-*) [[ $n -gt $((nprobes / 3)) ]] ;;
      v2-*-fuse4-*) [[ $n -gt $((nprobes / 60)) && $n -lt $((nprobes / 14)) ]] ;;
      v2-*-fuse*-*)
        nbits=${kind#*fuse}
        [[ $n -lt $((8 + (3 * nprobes >> (${nbits%-*} + 1)))) ]]
        ;;
      *) [[ $n -le $((8 + nprobes / 60)) ]] ;;
    esac
    nkinds=$((nkinds + 1))
  done
  [[ $nkinds -ge 100 && $(sort -u all_versions | tr '\n' ' ') == "2 3 4 5 6 7 " ]]
}

# beside_writer KIND: screens 200 times while Pebble writes, kills Pebble 50 times, and then
# screens for what was acknowledged and for what Pebble itself finds.
beside_writer() {
  local killed look
  for killed in {1..50}; do
    rm -rf db
    : >acknowledged
    "$PEBBLE" write $1 db >acknowledged 3>&- &
    writer=$!
    until [[ -s acknowledged ]]; do sleep 0.01; done
    for look in {1..4}; do
      head -n "$(wc -l <acknowledged)" acknowledged >wanted
      lanebloom screen --db db -v wanted >lost 2>err || [[ $? -eq 1 ]] ||
        { echo "$killed, $look: $(<err)"; kill -9 $writer; return 1; }
      [[ ! -s lost && ! -s err ]] ||
        { echo "$killed, $look: $(wc -l <lost) lost; $(<err)"; kill -9 $writer; return 1; }
      sleep 0.$((killed * look % 3)) # time for flushes and compactions
    done
    kill -9 $writer
    wait $writer || true
    head -n "$(wc -l <acknowledged)" acknowledged >wanted
    finds_all --db db
    cp -r db copy # Pebble removes obsolete files
    "$PEBBLE" keys $1 copy >wanted
    [[ $(wc -l <wanted) -ge $(wc -l <acknowledged) ]]
    finds_all --db db
    rm -r copy
  done
}

@test "beside a writer no run fails, and no key written before it is lost: Pebble 1" {
  needs_pebble
  beside_writer v1-recycled
}

@test "beside a writer: Pebble 2, with and without how much was on disk" {
  needs_pebble
  beside_writer v2-recycled
  beside_writer v2-unsynced
}

@test "beside a writer: Pebble 2, logs that fail over" {
  needs_pebble
  beside_writer v2-secondary
}

@test "beside a writer: Pebble 2, binary fuse filters and MinLZ, and values in other files" {
  needs_pebble
  beside_writer v2-fuse
  beside_writer v2-separated
}
