#!/usr/bin/env bats
# Worlds that Minecraft's fork of LevelDB writes during the test. The test downloads the fork, so it
# runs only with LANEBLOOM_EXHAUSTIVE, which test.sh --all sets. It runs in only one preset, since
# the databases are the same in each.
# SPDX-License-Identifier: MIT
bats_require_minimum_version 1.5.0

setup() {
  [[ ${LANEBLOOM_EXHAUSTIVE-} == 1 ]] ||
    skip "downloads Minecraft's LevelDB: LANEBLOOM_EXHAUSTIVE=1 runs it"
  case $BUILD_DIR in */release) ;; *) skip "runs in the preset release" ;; esac
  cd "$BATS_TEST_TMPDIR" || return 1
  need_python
}

# Makes $python, which has Minecraft's LevelDB.
need_python() {
  python=$BATS_FILE_TMPDIR/venv/bin/python
  [[ ! -e $BATS_FILE_TMPDIR/why ]] || skip "$(<"$BATS_FILE_TMPDIR/why")"
  [[ ! -e $BATS_FILE_TMPDIR/ready ]] || return 0
  python3 -m venv "$BATS_FILE_TMPDIR/venv" >venv.log 2>&1 || skip "no venv: $(tail -n 1 venv.log)"
  "$SOURCE_DIR/scripts/download.sh" "$python" -m pip install -q amulet-leveldb==1.0.7 \
    >pip.log 2>&1 || {
    echo "amulet-leveldb cannot be downloaded: $(grep -v '^$' pip.log | tail -n 1)" \
      >"$BATS_FILE_TMPDIR/why" # the other tests read this file
    skip "$(<"$BATS_FILE_TMPDIR/why")"
  }
  touch "$BATS_FILE_TMPDIR/ready"
}

minecraft() {
  "$python" "$SOURCE_DIR/tests/minecraft/world.py" "$@"
}

# wants: makes the file wanted of all keys that were in the world or have been written.
wants() {
  { head -n "$(wc -l <written)" written | tr -d '\n'; cat old_keys; } >wanted
}

# finds_all FOLDER: checks that the fork's keys are found, and few absent ones.
finds_all() {
  rm -rf opened
  cp -r "$1" opened # opening changes a database
  minecraft keys opened >live
  [[ $(stat -c %s live) -gt 100000 ]]
  "$LANEBLOOM" screen --width 10 --db "$1" live 2>err | cmp - live
  [[ ! -s err ]]
  run "$LANEBLOOM" screen --width 10 -c --db "$1" absent
  [[ $output -lt 4000 ]] # of 100,000; each of up to four tables lets 1 % pass
}

@test "all keys are found: deflate, as the fork writes it; zlib; and three types in one table" {
  head -c 1000000 /dev/urandom >absent
  for seed in 1 2 3; do
    rm -rf deflate zlib mixed
    minecraft make deflate $seed
    [[ $(minecraft types deflate) == $'data '*$'4\nindex 4\nmetaindex'* ]]
    finds_all deflate
    mv live wanted
    cp -r deflate zlib
    minecraft store zlib $seed 2
    [[ $(minecraft types zlib) == $'data '*2*$'\nindex 2'* ]]
    finds_all zlib
    cmp live wanted # the fork reads what the test stored
    cp -r deflate mixed
    minecraft store mixed $seed 0 2 4
    [[ $(minecraft types mixed) == $'data 0 2 4\n'* ]]
    finds_all mixed
    cmp live wanted
    # Outside of the database's folder, nothing names the order of keys, so all blocks are read.
    for table in zlib/*.ldb; do
      cp "$table" alone.ldb
      "$LANEBLOOM" tables --no-header alone.ldb 2>err
      [[ ! -s err ]]
    done
  done
}

# The fork leaves the blocks of an old world in zlib, and writes the new ones in deflate.
@test "beside the fork no key is lost in 200 looks at new and old worlds; it is killed 50 times" {
  minecraft make old 1
  minecraft store old 1 2
  minecraft keys old >all
  for killed in {1..50}; do
    rm -rf db
    : >old_keys
    if ((killed % 2)); then
      cp -r old db
      cp all old_keys
    fi
    "$python" "$SOURCE_DIR/tests/minecraft/world.py" write db >written 3>&- &
    writer=$!
    until [[ -s written && -e db/CURRENT ]]; do sleep 0.01; done
    for look in 1 2 3 4; do
      wants
      "$LANEBLOOM" screen --width 10 --db db -v wanted >lost 2>err || [[ $? -eq 1 ]] ||
        { echo "$killed, $look: $(<err)"; kill -9 $writer; return 1; }
      [[ ! -s lost ]] ||
        { echo "$killed, $look: $(stat -c %s lost) bytes lost"; kill -9 $writer; return 1; }
    done
    sleep "0.$((killed % 10))"
    kill -9 $writer
    wait $writer || true
    wants
    "$LANEBLOOM" screen --width 10 --db db wanted 2>err | cmp - wanted
    [[ ! -s err ]]
    rm -rf opened
    cp -r db opened
    minecraft keys opened >live
    [[ $(stat -c %s live) -ge $(stat -c %s wanted) ]]
    "$LANEBLOOM" screen --width 10 --db db live | cmp - live
  done
}
