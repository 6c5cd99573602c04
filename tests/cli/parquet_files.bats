# The files that --parquet reads: files in folders, files of any name, damaged files, and many
# files.
# SPDX-License-Identifier: MIT
load helper
load parquet

@test "files are named by folders, by patterns and by name, each once" {
  make_folder
  echo 'key 7' >keys
  cp events/a.parquet events/_e.parquet
  names() { lanebloom screen --column text --prune "$@" keys; }
  [[ $(names --parquet events/a.parquet --parquet events) == \
    $'events/a.parquet\nevents/day=1/b.parquet' ]]
  [[ $(names --parquet 'events/*.parquet' --parquet 'events/day=*') == \
    $'events/_e.parquet\nevents/a.parquet\nevents/day=1/b.parquet' ]]
  [[ $(names --parquet events/.hidden/d.parquet) == events/.hidden/d.parquet ]]
  mkdir empty
  fails_with 'expected a folder with Parquet files, found none' names --parquet empty
  fails_with 'found none of this name' names --parquet 'events/*.parq'
  fails_with 'found none of this name' names --parquet nowhere
  ln -s .. events/day=1/up # a folder that contains itself
  [[ $(names --parquet events | wc -l) == 2 ]]
}

# skips NAME: checks that a file of this name in a folder is not read, and that a message says so.
skips() {
  local name=$1 options
  rm -rf events
  mkdir -p events/day=1
  cp "$VECTORS/arrow_rs.parquet" events/a.parquet
  mv hidden "events/$name"
  printf 'absent\n' >keys
  run -1 --separate-stderr screen_events text
  [[ $stderr == "lanebloom: events/$name: warning: this Parquet file is not read, because"* ]]
  for options in -v "-c -v" -q "-q -v" "--annotate" "-o out --unmatched rest"; do
    echo old >out
    run -2 --separate-stderr screen_events text $options
    [[ $stderr == *"events/$name: warning: "* ]]
    holds out 'old\n'
  done
  run -2 --separate-stderr screen_events text -v
  [[ $output == absent ]]
  run -0 --separate-stderr lanebloom tables events
  [[ $stderr == *"events/$name: warning: "* && $output != *"$name"* ]]
  run -2 --separate-stderr screen_events text -v --summary=json
  jq -e '.parquet.files == 1 and .parquet.skipped_files == 1' <<<"${stderr_lines[-1]}"
  screen_events text --parquet "events/$name" --prune 2>err || true # named explicitly
  run -1 grep warning err
  printf 'absent\nkey 7\n' >keys
  run -0 --separate-stderr screen_events text -q # a.parquet has the key
  [[ $stderr == *"events/$name: warning: "* ]]
}

@test "Parquet files of hidden names are skipped with a warning" {
  cp "$VECTORS/arrow_rs.parquet" hidden
  skips _part.parquet
  cp "$VECTORS/arrow_rs.parquet" hidden
  skips .x.parquet
  cp "$VECTORS/arrow_rs.parquet" hidden
  skips day=1/_000000
  head -c 1000 "$VECTORS/arrow_rs.parquet" >hidden # as of a file that is being written
  skips .part.parquet.tmp
  tail -c 1000 "$VECTORS/arrow_rs.parquet" >hidden
  skips _torn
  printf 'PARE....PARE' >hidden
  skips _encrypted
  gzip -c "$VECTORS/arrow_rs.parquet" >hidden
  skips _part.parquet.gz
}

@test "what hidden names stand for by convention is no data, without a warning" {
  mkdir -p events/{_temporary/0,.hive-staging_1,_delta_log,_day=1}
  cp "$VECTORS/arrow_rs.parquet" events/a.parquet
  for name in _metadata _common_metadata _temporary/0/b.parquet .hive-staging_1/c.parquet \
    _delta_log/1.checkpoint.parquet _day=1/d.parquet; do
    cp "$VECTORS/arrow_rs.parquet" events/$name
  done
  : >events/_SUCCESS
  printf 'crc\0....' >events/.a.parquet.crc
  md5sum events/a.parquet >events/a.parquet.md5
  gzip -c events/a.parquet.md5 >events/a.md5.gz
  for name in begin.csv _begin.csv; do echo PARENT >events/$name; done
  for name in end.txt _end.txt; do printf COMPARE >events/$name; done
  mkfifo events/_pipe events/pipe
  ln -s nowhere events/_link
  ln -s nowhere events/link
  ln -s link events/.#lock
  printf 'key 7\nabsent\n' >keys
  timeout 5 "$LANEBLOOM" screen --parquet events --column text --prune keys >names 2>err
  holds names 'events/_day=1/d.parquet\nevents/a.parquet\n'
  holds err ''
  run -0 --separate-stderr screen_events text -v
  [[ $output == absent && -z $stderr ]]
}

@test "several hidden files have one warning, with their number" {
  make_folder
  cp events/a.parquet events/_e.parquet
  cp events/a.parquet events/.f.parquet
  cp events/a.parquet events/day=1/_g.parquet
  echo absent >keys
  run -1 --separate-stderr screen_events text --parquet events/day=1 # names this folder twice
  is_message 'events/.f.parquet: warning: this Parquet file is not read (and 2 more), because'
  run -1 --separate-stderr screen_events text --parquet events/.f.parquet
  is_message 'events/_e.parquet: warning: this Parquet file is not read (and 1 more), because'
}

@test "Parquet files of other names are read, too" {
  mkdir events
  for name in 000000_0 B.PARQUET c.parq; do
    cp "$VECTORS/arrow_rs.parquet" events/$name
  done
  echo 'a,b' >events/notes.csv
  echo 'key 7' >keys
  lanebloom screen --column text --parquet events --prune keys >names
  holds names 'events/000000_0\nevents/B.PARQUET\nevents/c.parq\n'
  { printf '\0\0\0\0'; tail -c +5 "$VECTORS/arrow_rs.parquet"; } >torn # only the end is checked
  [[ $(lanebloom tables torn | wc -l) -gt 20 ]]
}

# A key must not be lost because a file that may hold it could not be read.
@test "in folders, damaged files of any name may have every key" {
  printf 'key 7\nabsent\n' >keys
  spoil() { # NAME MESSAGE: calls `damage` to make the file
    rm -rf events
    mkdir events
    cp "$VECTORS/arrow_rs.parquet" events/a.parquet
    damage "events/$1"
    run -2 --separate-stderr screen_events text
    [[ $output == $'key 7\nabsent' && $stderr == "lanebloom: events/$1: "*"$2"* ]]
    run -2 --separate-stderr screen_events text -v
    [[ -z $output ]]
    run -2 --separate-stderr lanebloom tables events
    [[ $stderr == "lanebloom: events/$1: "*"$2"* ]]
  }
  damage() { head -c 3000 "$VECTORS/arrow_rs.parquet" >"$1"; }
  spoil 000000_0 'expected "PAR1" in the last 4 bytes'
  damage() { printf 'PARE....PARE' >"$1"; }
  spoil b.parq 'encrypted'
  damage() { ln -s nowhere "$1"; }
  spoil b.parquet 'No such file'
  damage() { gzip -c "$VECTORS/arrow_rs.parquet" >"$1"; }
  spoil b.parquet.gz 'expected "PAR1" in the last 4 bytes'
  damage() { xz -c "$VECTORS/arrow_rs.parquet" >"$1"; }
  spoil b.parquet.xz 'expected "PAR1" in the last 4 bytes'
  damage() { ln -s "${1##*/}" "$1"; }
  spoil loop 'ymbolic link' # the words differ between systems
  { printf '\0\0\0\0'; tail -c +5 "$VECTORS/arrow_rs.parquet"; } >events/loop2
  rm events/loop
  # Readers check only the magic number at the end.
  [[ $(screen_events text --prune) == $'events/a.parquet\nevents/loop2' ]]
}

@test "in folders, files that nobody may read may have every key" {
  mkdir events
  cp "$VECTORS/arrow_rs.parquet" events/a.parquet
  echo secret >events/notes
  chmod 0 events/notes
  echo absent >keys
  screen_events() {
    "${unprivileged[@]}" "$LANEBLOOM" screen --parquet events --column text "$@" keys
  }
  run -2 --separate-stderr screen_events
  [[ $output == absent && $stderr == "lanebloom: events/notes: Permission denied" ]]
  mv events/notes events/_notes
  run -1 --separate-stderr screen_events
  [[ $stderr == "lanebloom: events/_notes: warning: "* ]]
  run -2 --separate-stderr screen_events -v
}

# A key must not be lost because a file that may hold it could not be read.
@test "a damaged file may have every key" {
  make_folder
  printf 'key 7\nabsent\n' >keys
  head -c 3000 events/a.parquet >cut
  mv cut events/a.parquet
  run -2 --separate-stderr screen_events text --prune
  [[ $output == $'events/a.parquet\nevents/day=1/b.parquet' && $stderr == *"events/a.parquet: "* ]]
  run -2 --separate-stderr screen_events text --prune --row-groups
  [[ $output == $'events/a.parquet\t*\nevents/day=1/b.parquet\t0' ]]
  run -2 --separate-stderr screen_events text
  [[ $output == $'key 7\nabsent' ]]
  run -2 --separate-stderr screen_events text -v
  [[ -z $output ]]
  run -2 --separate-stderr screen_events text -c
  [[ $output == 2 ]]
  run -2 --separate-stderr screen_events text --which --summary
  [[ $stderr == *" 2 records, 2 selected,"* ]]
  echo old >out
  run -2 --separate-stderr screen_events text -o out
  holds out 'old\n'
  run -2 --separate-stderr screen_events text --summary=json
  jq -e '.parquet.files == 2 and .parquet.failed_files == 1 and .parquet.keys == 2' \
    <<<"${stderr_lines[-1]}"
}

# Many files take no more memory and no more open files than few do.
@test "2,000 files, 24 of them open at most" {
  mkdir events
  for ((i = 0; i < 2000; i++)); do echo "events/$i.parquet"; done >names
  xargs -n 1 ln -s "$VECTORS/arrow_rs.parquet" <names
  echo 'key 7' >keys
  (ulimit -n 24 && screen_events text --prune -j 4) | sort -u | wc -l >n
  holds n '2000\n'
  [[ $(screen_events text --progress=always --prune -c 2>&1) == *"2000 files, "* ]]
}
