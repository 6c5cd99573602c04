# Compressed inputs have the records of the data before compression, and damage is an error.
# SPDX-License-Identifier: MIT
load helper

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return 1
  seq -f 'key-%08.0f' 1 200000 >rows # 2.6 MB
  head -n 3000 rows >some
  sed -n 'p;n;n' rows >keys
  "$(realpath "$LANEBLOOM")" build -o filter keys
  for file in rows some keys; do
    gzip -k $file
    zstd -q $file
  done
}

make_rows() {
  ln -s "$BATS_FILE_TMPDIR"/* .
  "$LANEBLOOM" screen -c filter some.zst >zstd.count 2>/dev/null || true
  kinds="gz zst"
  [[ -s zstd.count ]] || kinds=gz # a build may lack zstd
}

needs_zstd() {
  [[ $kinds == *zst ]] || skip "this build lacks zstd"
}

# is_whole FILE EXPECTED: checks that every way to read the file finds these records.
is_whole() {
  local jobs
  for jobs in -j1 $(exhaustive && echo -j2) -j3; do
    lanebloom screen $jobs -v empty.lbf "$1" | cmp - "$2" || return
    lanebloom screen $jobs -v empty.lbf <"$1" | cmp - "$2" || return
    cat "$1" | lanebloom screen $jobs -v empty.lbf - | cmp - "$2" || return
  done
}

# is_damaged TEXT FILE EXPECTED: checks that the command prints one message, and only records that
# are before the damage.
is_damaged() {
  local jobs
  for jobs in -j1 -j3; do
    status=0
    lanebloom screen $jobs -v empty.lbf "$2" >out 2>err || status=$?
    [[ $status -eq 2 && $(wc -l <err) -eq 1 && $(<err) == "lanebloom: $2: "*$1* ]] &&
      cmp -n "$(stat -c %s out)" out "$3" ||
      { echo "$2: status $status, $(<err)"; return 1; }
  done
}

# Makes a filter that has 24 of its 512 bits set and that no record passes, so that -v prints all
# records.
make_empty_filter() {
  lanebloom build --bits 30 -o empty.lbf <<<"no record"
}

@test "every verb reads them, by their content" {
  make_rows
  lanebloom screen -n filter rows >hits
  lanebloom hash some >hashes
  lanebloom build -o sized --expected 70000 some
  cp sized added
  lanebloom add added keys
  for kind in $kinds; do
    for jobs in -j1 $(exhaustive && echo -j2) -j3; do
      lanebloom build $jobs -o other keys.$kind
      cmp filter other
      lanebloom build $jobs --rate 1% -o rated keys
      lanebloom build $jobs --rate 1% -o other keys.$kind # reads the input twice
      cmp rated other
      lanebloom screen $jobs -n filter rows.$kind | cmp - hits
      lanebloom screen $jobs -n filter <rows.$kind | cmp - hits
      cat rows.$kind | lanebloom screen $jobs -n filter | cmp - hits
      lanebloom match $jobs keys.$kind rows.$kind | cmp - keys
      lanebloom match $jobs <(cat keys.$kind) rows.$kind | cmp - keys
      [[ $(lanebloom screen $jobs -c filter rows.$kind rows rows.$kind) == \
        $(lanebloom screen $jobs -c filter rows rows rows) ]]
    done
    lanebloom hash some.$kind | cmp - hashes
    dd if=some.$kind bs=1 status=none | lanebloom hash | cmp - hashes
    cp sized other
    lanebloom add other keys.$kind
    cmp added other
    mv some.$kind some-$kind # file names are ignored
    lanebloom hash some-$kind | cmp - hashes
  done
}

@test "records of any length, of fixed width, with fields, with NULs" {
  make_rows
  make_empty_filter
  for n in 1 1000 524287 524288 2000000; do
    head -c $n /dev/urandom | base64 -w 0
    echo
  done >long
  { echo note,key; sed 's/.*/"a, ""note""\n",&/' some; } >rows.csv
  tr '\n' '\0' <some >nuls
  for file in long rows.csv nuls; do
    gzip -kf $file
    zstd -qf $file
  done
  lanebloom build -o few --csv -f key rows.csv
  for kind in $kinds; do
    is_whole long.$kind long
    for jobs in -j1 -j2 -j3; do
      lanebloom screen $jobs --csv -f key few rows.csv.$kind rows.csv rows.csv.$kind |
        cmp - <(cat rows.csv; tail -n +2 rows.csv; tail -n +2 rows.csv)
      lanebloom screen $jobs -z -v empty.lbf nuls.$kind | cmp - nuls
      lanebloom screen $jobs --width 13 --decompress=auto -v empty.lbf rows.$kind | cmp - rows
    done
    sed 's/key/other/' rows.csv | gzip >other.gz
    fails_with "other.gz: expected the header of the first input, note,key, found note,other" \
      lanebloom build -o f --csv -f key rows.csv.$kind other.gz
  done
}

@test "several streams in one file" {
  make_rows
  make_empty_filter
  cat some some rows some >all
  {
    gzip -9 <some
    gzip </dev/null
    gzip </dev/null
    gzip -1 <some
    gzip --name -c rows
    gzip --no-name <some
    gzip </dev/null
  } >all.gz
  is_whole all.gz all
  { cat all.gz; head -c 1000000 /dev/zero; } >padded.gz # gzip also ignores these zeros
  is_whole padded.gz all
  gzip </dev/null >none.gz
  is_whole none.gz /dev/null
  head -c 600000 rows >edge # fills the first read, and ends within another
  python3 - >odd.gz <<'END'
import struct, sys, zlib
def member(data, flags, fields):
    head = b"\x1f\x8b\x08" + bytes([flags]) + b"1234\0\3" + fields
    if flags & 2:
        head += struct.pack("<H", zlib.crc32(head) & 0xffff)
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    return head + deflate.compress(data) + deflate.flush() + struct.pack(
        "<II", zlib.crc32(data), len(data))
data = open("edge", "rb").read()
extra = struct.pack("<H", 300) + bytes(300)
sys.stdout.buffer.write(member(data[:1000], 0, b""))
sys.stdout.buffer.write(member(data[1000:1001], 4, extra))
sys.stdout.buffer.write(member(data[1001:5000], 8, b"a name\0"))
sys.stdout.buffer.write(member(data[5000:], 31, extra + b"a name\0" + b"a comment\0"))
END
  gzip -t odd.gz
  lanebloom screen -v empty.lbf odd.gz | cmp - <(cat edge; echo)
  dd if=odd.gz bs=1 status=none | lanebloom screen -v empty.lbf | cmp - <(cat edge; echo)
  needs_zstd
  skipped() { printf '\x'$1'\x2a\x4d\x18\x05\0\0\0-----'; }
  { skipped 50; zstd -q <some; zstd -q </dev/null; skipped 5f; zstd -q --check <some
    zstd -q --no-check -19 <rows; zstd -q --ultra --long=27 <some; skipped 53; } >all.zst
  is_whole all.zst all
  dd if=all.zst bs=1 status=none | lanebloom screen -v empty.lbf | cmp - all
  skipped 57 >none.zst
  is_whole none.zst /dev/null
}

@test "truncated files are refused, wherever they end" {
  make_rows
  make_empty_filter
  local step=1999
  ! exhaustive || step=97
  for kind in $kinds; do
    cat some.$kind some.$kind >two
    cat some some >two.rows
    first=$(stat -Lc %s some.$kind)
    for ((n = 5; n < 2 * first; n += step)); do
      [[ $n -ne $first ]] || continue
      head -c $n two >cut
      is_damaged "truncated: expected more" cut two.rows
    done
    for n in $((first - 1)) $((first + 1)) $((2 * first - 1)); do
      head -c $n two >cut
      is_damaged "truncated: expected more" cut two.rows
    done
    head -c $(($(stat -Lc %s rows.$kind) / 2)) rows.$kind >cut
    is_damaged truncated cut rows
    fails_with "cut: truncated: expected more" lanebloom build -o f cut
    fails_with "cut: truncated: expected more" without_input "$LANEBLOOM" match cut
    fails_with "(standard input): truncated" lanebloom screen -c filter - <cut
    fails_with "(standard input): truncated" lanebloom screen -c filter < <(cat cut)
    [[ ! -e f ]]
  done
}

# Records may be printed before the checksum is read. The exit status then reports the damage.
@test "changed bytes are found, by the checksum at the latest" {
  make_rows
  make_empty_filter
  local step=997 n
  ! exhaustive || step=29
  for kind in $kinds; do
    nbytes=$(stat -Lc %s some.$kind)
    nfound=0 nothing=0
    for n in $(seq 10 $step $((nbytes - 9))) $(seq $((nbytes - 8)) $((nbytes - 1))); do
      cp -L --remove-destination some.$kind changed
      byte=$(od -An -tu1 -j "$n" -N 1 changed)
      printf "\\x$(printf %x $((byte ^ 16)))" |
        dd of=changed bs=1 seek="$n" conv=notrunc status=none
      status=0
      lanebloom screen -v empty.lbf changed >out 2>err || status=$?
      if [[ $status -eq 2 && $(wc -l <err) -eq 1 && $(<err) == "lanebloom: changed: "* ]]; then
        nfound=$((nfound + 1))
      else # the byte belongs to a file name, or its bits mean nothing
        [[ $status -eq 0 && ! -s err && $kind == gz ]]
        cmp out some
        nothing=$((nothing + 1))
      fi
    done
    echo "# $kind: $nfound changed bytes were found, $nothing mean nothing" >&3
    [[ $nfound -gt 8 && $nothing -le 6 ]]
  done
}

@test "the checksum and the size at the end" {
  make_rows
  make_empty_filter
  nbytes=$(stat -Lc %s rows.gz)
  for back in 1 4 5 8; do
    cp -L --remove-destination rows.gz changed
    printf '\252' | dd of=changed bs=1 seek=$((nbytes - back)) conv=notrunc status=none
    is_damaged "damaged: expected the checksum of the gzip data, found another one" changed rows
    fails_with "changed: damaged" lanebloom build -o f changed
    [[ ! -e f ]]
    cat some >>changed # the bytes after the data are not read
    is_damaged "damaged: expected the checksum" changed rows
  done
  needs_zstd
  cp -L --remove-destination rows.zst changed
  printf '\252' | dd of=changed bs=1 seek=$(($(stat -c %s changed) - 1)) conv=notrunc status=none
  is_damaged "damaged: expected the checksum of the zstd data, found another one" changed rows
}

@test "other bytes behind the data are refused" {
  make_rows
  make_empty_filter
  for more in 'x' '\n' '\0\0x' '\37\0' '\37\213\11' '\50\265\57\375'; do
    { cat some.gz; printf "$more"; } >more
    is_damaged "expected" more some
  done
  { cat some.gz; echo x; } >more
  is_damaged "expected the end of the gzip data, found other bytes after it" more some
  needs_zstd
  { cat some.zst; echo more; } >more
  is_damaged "expected the end of the zstd data or another frame, found other bytes" more some
  { cat some.zst; head -c 100 /dev/zero; } >more
  is_damaged "expected the end of the zstd data or another frame, found other bytes" more some
}

@test "zstd windows of up to 128 MiB" {
  make_rows
  make_empty_filter
  needs_zstd
  cat rows | zstd -q --long=27 >at-most
  is_whole at-most rows
  for log in 28 31; do
    cat rows | zstd -q --ultra --long=$log >larger
    is_damaged "expected a zstd window of at most 128 MiB, found a larger one" larger rows
    fails_with "larger: expected a zstd window" lanebloom build -o f larger
    fails_with "larger: expected a zstd window" without_input "$LANEBLOOM" match larger
  done
}

@test "--decompress, and records of fixed width" {
  make_rows
  make_empty_filter
  for how in "" x Auto always 1; do
    refuses "--decompress: expected auto or none, found '$how'" \
      lanebloom screen --decompress="$how" filter
  done
  for kind in $kinds; do
    name=gzip
    [[ $kind == gz ]] || name=zstd
    fails_with "some.$kind: expected records, found $name data: run ${name/gzip/z}cat" \
      lanebloom hash --decompress=none some.$kind
    fails_with "keys.$kind: expected records, found" without_input "$LANEBLOOM" match \
      --decompress=none keys.$kind
    lanebloom hash --decompress=auto some.$kind | cmp - <(lanebloom hash some)
    for width in 1 4; do # without --decompress=auto, a fixed width reads raw bytes
      nbytes=$(stat -Lc %s some.$kind)
      head -c $((nbytes - nbytes % width)) some.$kind >raw
      for none in "" --decompress=none; do
        lanebloom screen --width $width $none -v empty.lbf raw | cmp - raw
        lanebloom match --width $width $none raw raw | cmp - raw
      done
    done
    for jobs in -j1 -j3; do
      lanebloom screen --width 13 --decompress=auto $jobs -v empty.lbf some.$kind | cmp - some
      lanebloom match --width 13 --decompress=auto $jobs keys.$kind rows.$kind | cmp - keys
    done
    # With --decompress=auto, a file that is not compressed is read as raw bytes, and data that was
    # compressed twice is decompressed once.
    lanebloom screen --width 1 --decompress=auto -v empty.lbf filter | cmp - filter
    gzip <some.$kind >twice
    lanebloom screen --width 1 --decompress=auto -v empty.lbf twice | cmp - some.$kind
  done
}

@test "what was compressed twice, and containers that were compressed, are refused" {
  make_rows
  for kind in $kinds; do
    gzip <some.$kind >twice.gz
    fails_with "twice.gz: expected records, found" lanebloom hash twice.gz
    fails_with "twice.gz: expected records, found" without_input "$LANEBLOOM" match twice.gz
  done
  gzip <filter >filter.gz
  fails_with "filter.gz: expected records, found a lanebloom container" lanebloom hash filter.gz
}

@test "an end before that of the input does not wait for it" {
  make_rows
  mkfifo pipe
  absent=$(seq 100 | lanebloom screen -v filter | head -n 1) # a record that is no false positive
  for kind in $kinds; do
    compress=gzip
    [[ $kind == gz ]] || compress="zstd -q"
    jobs_tried="-j1 -j2 -j4"
    exhaustive || jobs_tried=$([[ $kind == gz ]] && echo "-j1 -j4" || echo -j4)
    for jobs in $jobs_tried; do
      for command in "screen $jobs -q filter" "screen $jobs -m 1 filter" "match $jobs -q keys" \
        "screen $jobs -v -c -m 3 filter"; do
        [[ $command == *-v* ]] && line=$absent || line=key-00000001
        yes $line 2>/dev/null | $compress 2>/dev/null >pipe & # never ends
        timeout 20 "$LANEBLOOM" $command pipe >out
        wait $! || true
      done
      run bash -o pipefail -c \
        "yes key-00000001 | $compress | timeout 20 '$LANEBLOOM' screen $jobs filter | head -n 1"
      [[ $status -eq 141 && ${#lines[@]} -eq 1 ]]
    done
  done
}

@test "an input that is refused at its header does not wait for its end" {
  make_rows
  for kind in $kinds; do
    printf 'note\tkey\n' >first
    { printf 'other\tkey\n'; cat rows; } | gzip >other
    mkfifo pipe
    sleep 20 >pipe 3>&- & # holds the pipe open
    cat other >pipe &
    for jobs in -j1 -j2; do
      run -2 timeout 10 "$LANEBLOOM" screen $jobs --tsv -f key filter first other first
      [[ $output == *"other: expected the header of the first input"* ]]
    done
    run -2 timeout 10 "$LANEBLOOM" screen --tsv -f key filter first pipe first
    [[ $output == *"pipe: expected the header of the first input"* ]]
    kill %1
    wait || true
    rm pipe
  done
}

@test "matches show while a compressed pipe stays open" {
  make_rows
  mkfifo in out
  "$LANEBLOOM" screen filter <in >out 3>&- &
  exec 5>in 6<out
  for key in key-00000001 key-00000004; do
    echo $key | gzip >&5
    read -r -t 5 line <&6
    [[ $line == "$key" ]]
  done
  exec 5>&- 6<&-
  wait $!
}

@test "the share of a compressed file is that of its compressed bytes" {
  make_empty_filter
  yes 2>/dev/null | head -c 10000000 | gzip >one
  for i in {1..100}; do cat one; done >hundred
  for i in {1..30}; do cat hundred; done >records # 30 GB
  "$LANEBLOOM" screen --progress=always -c empty.lbf records >out 2>errors &
  for ((ntries = 0; ntries < 3000; ntries++)); do
    ! grep -q left errors || break
    sleep 0.02
  done
  kill $!
  wait $! || true
  grep -qx 'lanebloom: [0-9]* %, [0-9]* records, [0-9]* per second, [0-9.]* [smh].* left' errors
}

@test "memory: 16 MB, 2 MB for each worker, and a zstd window" {
  [[ -z ${SANITIZERS-} ]] && address_space_can_be_limited ||
    skip "sanitizers and emulators take memory of their own"
  make_rows
  make_empty_filter
  for i in {1..30}; do cat rows; done >many # 78 MB
  gzip -1 <many >many.gz
  zstd -q -1 <many >many.zst
  zstd -q --long=25 <many >many-32.zst # a window of 32 MiB
  for jobs in 1 4; do
    limit=$((16000 + jobs * 2000))
    for file in many many.gz many.zst many-32.zst; do
      [[ $file != *.zst || $kinds == *zst ]] || continue
      used=$(peak "$LANEBLOOM" screen -j $jobs -v empty.lbf $file)
      echo "# $file, $jobs workers: $used kB" >&3
      [[ $used -lt $((limit + (${#file} > 10 ? 33555 : 0))) ]]
    done
  done
}

@test "where no thread is to be had, the reader decompresses" {
  [[ -n ${INTERPOSE-} ]] || skip "calls of this binary cannot be made to fail"
  make_rows
  lanebloom screen -n filter rows >hits
  for kind in $kinds; do
    for n in 1 2 3; do
      : >reached
      LD_PRELOAD=$INTERPOSE LANEBLOOM_FAULT="thread $n fail-on" LANEBLOOM_FAULT_MARK=reached \
        "$LANEBLOOM" screen -j 3 -n filter rows.$kind | cmp - hits
      [[ $n -eq 3 || -s reached ]]
    done
  done
}
