# lanebloom screen --db: whole databases that the real LevelDB and RocksDB write.
# SPDX-License-Identifier: MIT
load helper

export LC_ALL=C # keys are bytes
VECTORS=$BATS_TEST_DIRNAME/../vectors/tables

needs_engines() {
  [[ -n ${DATABASES-} ]] || skip "this build has no LevelDB and RocksDB"
}

# make KIND...: makes a database of each kind, in a folder named after the kind.
make() {
  needs_engines
  local kind
  for kind; do
    "$DATABASES" make "$kind" "$kind"
  done
}

# keys KIND [FAMILY]: prints the keys that the engine's iterator returns. It reads a copy, because
# opening changes a database.
keys() {
  local end
  for end in "" .logs .fast .slow; do
    [[ ! -d $1$end ]] || cp -r "$1$end" "copy$end"
  done
  "$DATABASES" keys "$1" copy ${2-}
  rm -rf copy copy.logs copy.fast copy.slow
}

# find_options KIND: sets `options` to the options with which the command finds all files of this
# kind.
find_options() {
  options=()
  [[ $1 != rocksdb-db-paths ]] || options=(--db-path "$1.fast" --db-path "$1.slow")
}

# logs FOLDER: prints the folder's logs, the newest last.
logs() {
  local all=("$1"/*.log)
  printf '%s\n' "${all[@]}"
}

@test "every key that the engine shows is found; of absent keys no more than filters let pass" {
  needs_engines
  seq -f 'absent%06.0f' 20000 >absent
  seq -f 'key1%05.0f' 20000 >>absent
  nkinds=0
  for kind in $("$DATABASES" kinds); do
    make $kind
    find_options $kind
    keys $kind >wanted
    status=0
    lanebloom screen "${options[@]}" --db $kind wanted >found 2>err || status=$?
    [[ ! -s err || $kind == *-reverse* ]] || { cat err; echo "$kind"; return 1; }
    cmp wanted found || { echo "$kind: keys are lost"; return 1; }
    [[ $status -eq $([[ -s wanted ]]; echo $?) ]]
    n=$(lanebloom screen "${options[@]}" --db $kind -c absent 2>/dev/null) || true
    [[ $n -lt 1200 || $kind == *-reverse* ]] || { echo "$kind: $n absent keys"; return 1; }
    # Without the logs some keys are missing, so a lost log would make this test fail.
    if [[ $kind == *-log ]]; then
      run lanebloom screen -c --all-files --db $kind wanted
      [[ $output != $(wc -l <wanted) ]]
    fi
    nkinds=$((nkinds + 1))
  done
  [[ $nkinds -ge 25 ]]
}

@test "a world of Minecraft whose tables have blocks in zlib, in deflate and not compressed" {
  world=$BATS_TEST_DIRNAME/../vectors/databases/minecraft
  python3 - "$world.keys.hex" <<'END'
import sys
for line in open(sys.argv[1]):
    key = bytes.fromhex(line)
    open(f"keys.{len(key)}", "ab").write(key)
END
  for keys in keys.*; do
    run --separate-stderr lanebloom screen --width "${keys#*.}" -o found --db "$world" "$keys"
    [[ $stderr != *"which this build does not read"* ]] || skip "this build lacks zlib"
    [[ $status -eq 0 && -z $stderr ]]
    cmp found "$keys"
  done
  seq -f 'absent%04.0f' 1000 >absent
  run lanebloom screen -c --db "$world" absent
  [[ $output -lt 40 ]]
}

@test "in another order than bytewise all filters of a table are asked, and a warning says so" {
  make leveldb-reverse rocksdb-reverse rocksdb-reverse-partitions
  seq -f 'absent%06.0f' 2000 >absent
  for kind in leveldb-reverse rocksdb-reverse rocksdb-reverse-partitions; do
    run --separate-stderr lanebloom screen -c --db $kind absent
    echo "$kind: $output: $stderr"
    [[ $output -lt 1000 ]]
    [[ $stderr == *"in their comparator's order, so the key range is not known"* ]]
    [[ $kind == rocksdb-reverse || $stderr == *"every filter is probed for each key"* ]]
    # The reported rate covers all filters together.
    lanebloom tables --json $kind 2>/dev/null | jq -se --argjson n "$output" '
      ($n / 2000) as $share | .[0].model_rate as $rate |
      $share < 1.3 * $rate + 0.01 and $share > 0.7 * $rate - 0.01'
  done
}

@test "tables that are obsolete are not asked" {
  make rocksdb-obsolete leveldb-tables
  # Some files are not named by the MANIFEST.
  [[ $(ls rocksdb-obsolete/*.sst | wc -l) -gt \
    $(lanebloom tables --no-header rocksdb-obsolete | grep -c sst) ]]
  seq -f 'old%06.0f' 0 2999 >old
  run -1 lanebloom screen -c --db rocksdb-obsolete old
  [[ $output -lt 150 ]]
  [[ $(lanebloom screen -c --all-files --db rocksdb-obsolete old 2>/dev/null) -eq 3000 ]]
  echo text >leveldb-tables/999999.ldb
  run -0 --separate-stderr lanebloom screen -c --db leveldb-tables <<<table000001
  [[ $output == 1 && -z $stderr ]]
}

@test "--which: (log) for keys of logs; with several databases, behind its folder" {
  make leveldb-log rocksdb-log
  echo log000007 >key
  [[ $(lanebloom screen --which --db leveldb-log key) == $'(log)\tlog000007' ]]
  [[ $(lanebloom screen --which -c --db leveldb-log --db rocksdb-log/ key) == \
    $'leveldb-log/(log)\t1\nrocksdb-log/(log)\t1' ]]
  [[ $(lanebloom tables --no-header leveldb-log | awk '{ print $1, $2, $3, $4 }') == \
    '(log) leveldb keys 3000' ]]
  [[ $(lanebloom tables --json rocksdb-log |
    jq -c '[.file, .engine, .entries, .database.sequence, .database.logs, .database.complete]') == \
    '["(log)","rocksdb",3000,3000,1,true]' ]]
}

@test "--summary: from which version of each database the answer is, and what it cannot know" {
  make leveldb-log rocksdb-log
  echo log000007 >key
  run -0 --separate-stderr lanebloom screen --db leveldb-log --db rocksdb-log --summary key
  [[ ${#stderr_lines[@]} -eq 3 ]]
  nbytes=$(cat leveldb-log/*.log | wc -c)
  not_seen="writes without a log, and writes that the process has not handed to the system"
  [[ ${stderr_lines[1]} == "leveldb-log: sequence number 3000, tables 0, logs 1 of $nbytes bytes, \
complete; not seen: $not_seen" ]]
  [[ ${stderr_lines[2]} == "rocksdb-log: sequence number 3000, tables 0, logs 1 of "* ]]
  run -0 --separate-stderr lanebloom screen --db leveldb-log --summary=json key
  [[ $(jq -c '[.records, .databases."leveldb-log".sequence, .databases."leveldb-log".complete]' \
    <<<"$stderr") == '[1,3000,true]' ]]
  run -0 --separate-stderr lanebloom screen --summary=json -v \
    --db "$VECTORS/leveldb_bloom10.ldb" key
  [[ $(jq -c .databases <<<"$stderr") == '{}' ]]
}

@test "column families: all, or those that are named" {
  make rocksdb-families
  keys rocksdb-families users >users
  keys rocksdb-families orders >orders
  [[ $(lanebloom screen -c --db rocksdb-families --column-family users users) -eq 6000 ]]
  run -1 lanebloom screen -c --db rocksdb-families --column-family users orders
  [[ $output -lt 100 ]]
  cat users orders | lanebloom screen --db rocksdb-families --column-family users \
    --column-family orders | cmp - <(cat users orders)
  fails_with "expected a column family named 'none', found none" \
    lanebloom screen --db rocksdb-families --column-family none users
  lanebloom tables --json rocksdb-families | jq -r '.column_family // empty' | grep -x users
  [[ $(lanebloom tables --no-header rocksdb-families | awk '/sst/ { print $9, $10 }') == \
    *"0 users"* ]]
}

@test "logs in another folder: by OPTIONS, or as the user says" {
  make rocksdb-wal-dir
  echo log000007 >key
  lanebloom screen --db rocksdb-wal-dir key | cmp - key
  mv rocksdb-wal-dir.logs moved
  fails_with "expected the folder of logs that OPTIONS names as wal_dir, '" \
    lanebloom screen --db rocksdb-wal-dir key
  [[ $stderr == *"found none; name the folder that has the logs now, or the database's own folder \
if there are no such logs (--wal-dir names a folder of logs;"* ]]
  lanebloom screen --db rocksdb-wal-dir --wal-dir moved key | cmp - key
  run -1 lanebloom screen --db rocksdb-wal-dir --wal-dir rocksdb-wal-dir key
  fails_with "none: No such file or directory" \
    lanebloom screen --db rocksdb-wal-dir --wal-dir none key
}

@test "tables in other folders are missed, and found where the user says" {
  make rocksdb-db-paths
  echo table000007 >key
  run -2 --separate-stderr lanebloom screen --db rocksdb-db-paths key
  [[ -z $output && $stderr == *".sst: expected a table of the database, found none"* ]]
  lanebloom screen --db rocksdb-db-paths --db-path rocksdb-db-paths.fast \
    --db-path rocksdb-db-paths.slow key | cmp - key
}

@test "a live table that is missing is named, and nothing is printed" {
  make leveldb-reopened
  rm leveldb-reopened/*.ldb
  fails_with "ldb: expected a table of the database, found none" \
    lanebloom screen --db leveldb-reopened <<<new000001
  run -2 --separate-stderr lanebloom tables --no-header leveldb-reopened
  [[ ${#lines[@]} -eq 1 && $output == "(log) "* ]]
}

@test "a log that cannot be read is named after its folder, which is named once" {
  make leveldb-log
  log=$(logs leveldb-log | tail -n 1)
  rm "$log"
  mkdir "$log"
  fails_with "leveldb-log: ${log##*/}: expected a regular file, found" \
    lanebloom screen --db leveldb-log <<<key
}

@test "a log that ends within a record: nothing is said, and all before is found" {
  make leveldb-log rocksdb-log rocksdb-compressed-log
  for kind in leveldb-log rocksdb-log rocksdb-compressed-log; do
    log=$(logs $kind | tail -n 1)
    keys $kind >wanted
    cp -r $kind whole
    size=$(stat -c %s "$log")
    for cut in 1 50 5000; do
      rm -rf $kind && cp -r whole $kind
      truncate -s $((size - cut)) "$log"
      run -0 --separate-stderr lanebloom screen --db $kind wanted
      [[ -z $stderr && ${#lines[@]} -gt 2000 ]]
      keys $kind >rest # the keys that the engine itself finds
      lanebloom screen --db $kind rest | cmp - rest
    done
    rm -rf $kind && cp -r whole $kind
    truncate -s +100000 "$log" # appends zeros
    run -0 --separate-stderr lanebloom screen -c --db $kind wanted
    [[ -z $stderr && $output -eq $(wc -l <wanted) ]]
    rm -rf whole
  done
}

# damage FILE OFFSET: changes the byte at this offset.
damage() {
  printf '\xa5' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "a log that is damaged is named with the place; the rest is read, and the status is 2" {
  make leveldb-log
  log=$(logs leveldb-log)
  keys leveldb-log >wanted
  damage "$log" 40000
  keys leveldb-log >rest
  run -2 --separate-stderr lanebloom screen --db leveldb-log wanted
  [[ ${#stderr_lines[@]} -eq 1 &&
    $stderr == "lanebloom: $log: damaged at 3"*": expected another checksum, found "* ]]
  # LevelDB itself recovers the same keys: it drops the rest of the damaged block.
  [[ $(wc -l <rest) -gt 2000 && $(wc -l <rest) -lt 3000 ]]
  run -2 --separate-stderr lanebloom screen --db leveldb-log rest
  [[ $output == "$(<rest)" ]]
  run -2 --separate-stderr lanebloom screen -c -m 1 --db leveldb-log rest
  [[ $output == 1 ]]
  run -0 --separate-stderr lanebloom screen -q --db leveldb-log rest # like grep
  run -2 --separate-stderr lanebloom tables --json leveldb-log
  [[ $(jq .database.complete <<<"$output") == false && $stderr == *"damaged at"* ]]
}

@test "CURRENT and MANIFEST that are damaged are refused; a torn end of the MANIFEST is not" {
  make leveldb-tables
  cp -r leveldb-tables whole
  manifest=leveldb-tables/$(<leveldb-tables/CURRENT)
  again() {
    rm -rf leveldb-tables
    cp -r whole leveldb-tables
  }
  echo table000001 >key
  size=$(stat -c %s "$manifest")
  damage "$manifest" 20
  fails_with "${manifest#*/}: damaged at 0: expected another checksum" \
    lanebloom screen --db leveldb-tables key
  again
  printf 'MANIFEST-000002' >leveldb-tables/CURRENT
  fails_with "CURRENT: damaged" lanebloom screen --db leveldb-tables key
  again
  echo ../MANIFEST-000002 >leveldb-tables/CURRENT
  fails_with "CURRENT: damaged" lanebloom screen --db leveldb-tables key
  again
  echo MANIFEST-000099 >leveldb-tables/CURRENT
  fails_with "MANIFEST-000099: No such file or directory" lanebloom screen --db leveldb-tables key
  again
  rm leveldb-tables/CURRENT
  fails_with "CURRENT: No such file or directory" lanebloom screen --db leveldb-tables key
  again
  : >"$manifest"
  fails_with "expected the numbers of the log" lanebloom screen --db leveldb-tables key
  again
  head -c 50 /dev/zero >>"$manifest"
  lanebloom screen --db leveldb-tables key | cmp - key
  again
  tail -c 20 "$manifest" >>"$manifest" # longer than a header, but no whole record
  lanebloom screen --db leveldb-tables key | cmp - key
}

@test "files that a repository keeps elsewhere are named" {
  make leveldb-log leveldb-reopened rocksdb-log
  for file in */CURRENT */MANIFEST-* */OPTIONS-* */*.log */*.ldb; do
    names_pointer "$file" lanebloom screen --db "${file%/*}" <<<log000001
    [[ $file != *.ldb ]] || names_pointer "$file" lanebloom screen --db "$file" <<<log000001
  done
}

@test "CURRENT with the marks of a merge" {
  make leveldb-log
  manifest=$(<leveldb-log/CURRENT)
  printf '%s\n' '<<<<<<< HEAD' "$manifest" ======= MANIFEST-000099 '>>>>>>> other' \
    >leveldb-log/CURRENT
  fails_with "CURRENT: damaged: expected MANIFEST-, a number and the end of the line, found the \
marks of a merge of Git that was not finished; restore the folder as it was in one commit" \
    lanebloom screen --db leveldb-log <<<log000001
}

@test "goleveldb's newer CURRENT" {
  make leveldb-log
  mv leveldb-log/CURRENT leveldb-log/CURRENT.7
  echo MANIFEST-000001 >leveldb-log/CURRENT
  lanebloom screen --db leveldb-log <<<log000001
  echo MANIFEST-000099 >leveldb-log/CURRENT.8 # names a file that does not exist
  fails_with "MANIFEST-000001: No such file" lanebloom screen --db leveldb-log <<<log000001
}

# beside_writer ENGINE RUNS: screens while the engine writes, and again after the engine was killed.
beside_writer() {
  local engine=$1 nruns=$2 i
  for ((i = 0; i < nruns; i++)); do
    if ((i % 25 == 0)); then
      rm -rf db
      "$DATABASES" write "$engine" db >acknowledged 3>&- &
      writer=$!
      until [[ -s acknowledged && -e db/CURRENT ]]; do sleep 0.01; done
    fi
    head -n "$(wc -l <acknowledged)" acknowledged >wanted
    lanebloom screen --db db -v wanted >lost 2>err || [[ $? -eq 1 ]] ||
      { echo "run $i: $(<err)"; kill -9 $writer; return 1; }
    [[ ! -s lost ]] || { echo "run $i: $(wc -l <lost) lost"; kill -9 $writer; return 1; }
    ((i % 25 == 24)) || continue
    kill -9 $writer
    wait $writer || true
    lanebloom screen --db db acknowledged 2>err | cmp - acknowledged
    [[ ! -s err ]]
  done
}

@test "beside a writer no run fails, and no key written before it is lost: LevelDB" {
  needs_engines
  beside_writer leveldb $(exhaustive && echo 500 || echo 25)
}

@test "beside a writer: RocksDB" {
  needs_engines
  beside_writer rocksdb $(exhaustive && echo 500 || echo 25)
}

@test "beside a writer: RocksDB, logs that are recycled" {
  needs_engines
  beside_writer rocksdb-recycled $(exhaustive && echo 500 || echo 25)
}

# killed ENGINE TIMES: checks that screening finds every key that was acknowledged before a kill,
# and every key that the engine itself finds afterwards.
killed() {
  local engine=$1 ntimes=$2 i
  for ((i = 0; i < ntimes; i++)); do
    rm -rf "$engine"
    "$DATABASES" write "$engine" "$engine" >acknowledged 3>&- &
    writer=$!
    until [[ -s acknowledged && -e $engine/CURRENT ]]; do sleep 0.01; done
    sleep 0.$((RANDOM % 3))$((RANDOM % 10))
    kill -9 $writer
    wait $writer || true
    lanebloom screen --db "$engine" acknowledged 2>err | cmp - acknowledged
    [[ ! -s err ]]
    keys "$engine" >of_engine
    [[ $(wc -l <of_engine) -ge $(wc -l <acknowledged) ]]
    lanebloom screen --db "$engine" of_engine | cmp - of_engine
  done
}

@test "killed while writing: what the engine finds afterwards is found" {
  needs_engines
  local ntimes=${KILLS:-$(exhaustive && echo 24 || echo 8)} # KILLS=200 takes four minutes
  killed leveldb $((ntimes / 2))
  killed rocksdb $((ntimes / 4))
  killed rocksdb-recycled $((ntimes / 4))
}
