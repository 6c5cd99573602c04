# The number of threads never changes the output.
# SPDX-License-Identifier: MIT
load helper

# Makes 2.5 or 5 MB of lines, which take several reads of 512 KiB. Most lines have 0 to 40 bytes, a
# few up to 200 kB. The filter has every third line. LANEBLOOM_TEST_SEED, which is printed, repeats
# a run.
setup_file() {
  export SEED=${LANEBLOOM_TEST_SEED:-$RANDOM}
  cd "$BATS_FILE_TMPDIR" || return 1
  awk -v seed="$SEED" -v n="$(exhaustive && echo 200000 || echo 100000)" 'BEGIN {
    srand(seed)
    x = "0123456789abcdef"
    for (i = 0; i < 14; i++) x = x x
    for (i = 0; i < n; i++) {
      size = rand() < 0.00003 ? 65000 * (1 + int(rand() * 3)) : int(rand() * 34)
      s = substr(x, 1 + int(rand() * 16), size)
      print size < 6 ? s : s "-" i
    }
  }' >lines
  sed -n 'p;n;n' lines >keys
  "$(realpath "$LANEBLOOM")" build -j1 -o filter keys
}

# Links the files of lines, of keys and of the keys' filter.
make_lines() {
  echo "LANEBLOOM_TEST_SEED=$SEED"
  ln -s "$BATS_FILE_TMPDIR"/{lines,keys,filter} .
}

# same STATUS ARGUMENTS...: checks that screen prints the same on both streams and has the same
# status with any number of threads. If STANDARD_INPUT is set, it is the input.
same() {
  local expected=$1 jobs status several=-j3
  shift
  ! exhaustive || several="-j2 -j3 --jobs=8 --"
  for jobs in -j1 $several; do
    [[ $jobs == -- ]] && jobs=
    status=0
    lanebloom screen $jobs "$@" <"${STANDARD_INPUT:-/dev/null}" >"got$jobs" 2>"errors$jobs" ||
      status=$?
    [[ $status -eq $expected ]] ||
      { echo "screen $jobs $*: status $status"; cat "errors$jobs"; return 1; }
    cmp got-j1 "got$jobs" || { echo "screen $jobs $*"; return 1; }
    diff errors-j1 "errors$jobs" || { echo "screen $jobs $*"; return 1; }
  done
}

@test "numbers of threads that are none" {
  numbers 1 10 | lanebloom build -o filter
  for jobs in 0 -1 x 1x 1.5 "" 1025 99999999999999999999; do
    refuses "--jobs: expected a whole number from 1 to 1024, found '$jobs'" \
      lanebloom screen "--jobs=$jobs" filter /dev/null
    refuses "--jobs: expected a whole number from 1 to 1024, found '$jobs'" \
      lanebloom build "--jobs=$jobs" -o other /dev/null
  done
  [[ ! -e other ]]
  [[ $(numbers 1 10 | lanebloom screen -j 1024 -c filter) == 10 ]]
}

@test "screen: lines, in every mode" {
  make_lines
  for options in "" -v -n -nv -c -vc; do
    same 0 $options filter lines
  done
  same 0 -q filter lines
  same 0 filter keys
  cmp got-j1 keys
  same 0 -n filter lines keys
  lanebloom screen -j3 filter lines >hits
  lanebloom screen -j3 -n filter lines | cut -d: -f2- | cmp - hits
  lanebloom screen -j3 -n filter lines | sed 's/:.*//' >numbers
  awk 'NR == FNR { wanted[$1]; next } FNR in wanted' numbers lines | cmp - hits
}

@test "screen: carriage returns, NULs, fixed width and a remainder" {
  make_lines
  sed 's/$/\r/' lines >dos
  for options in "" -v -n; do
    same 0 --crlf $options filter dos
  done
  tr '\n' '\0' <lines >nuls
  for options in "" -v -n; do
    same 0 -z $options filter nuls
  done
  for width in 1 7 64 4096 700001; do
    head -c $((width * 3)) lines | lanebloom build --width $width -j1 -o fixed
    expected=$(($(stat -Lc %s lines) % width ? 2 : 0))
    for options in "" -v -n; do
      # each key is one of only 256, so -v prints nothing, and -n prints much
      [[ $width -gt 1 || -z $options ]] || continue
      same $expected --width $width $options fixed lines lines
    done
  done
}

@test "screen: several inputs, unreadable ones in between, standard input, no newline at the end" {
  make_lines
  head -c 1000001 lines >a
  head -c 1500 lines | head -c -1 >b
  : >empty
  STANDARD_INPUT=lines
  for options in "" -n -v -c; do
    same 2 $options filter empty a missing b . - empty /proc/self/mem keys b missing2
    same 0 $options filter a b - empty keys
  done
  [[ $(wc -l <errors-j1) -eq 0 ]]
  same 2 filter missing . missing
  [[ $(wc -l <errors-j1) -eq 3 ]]
}

@test "screen: messages come where they came, between the records" {
  make_lines
  for jobs in -j1 -j2 -j8; do
    lanebloom screen $jobs filter keys missing - . keys <keys >both$jobs 2>&1 || [[ $? -eq 2 ]]
    { cat keys; echo "lanebloom: missing: No such file or directory"
      cat keys; echo "lanebloom: .: Is a directory"; cat keys; } |
      cmp - <(sed 's/ a directory; .*/ a directory/' both$jobs)
  done
}

# Chunks may end anywhere in these lines. A whole chunk may lie within one line, or a chunk may have
# no line end near its own end.
@test "screen: lines of any length around that of a chunk's last part" {
  for n in 1 13 8000 8191 8192 8193 20000 524287 524288 524289 600000; do
    for i in {1..5}; do
      head -c $n /dev/zero | tr '\0' a
      echo $i
    done
  done >once
  cat once once once >several
  lanebloom build -o filter once
  for options in "" -v -n -c; do
    expected=$([[ $options == -v ]] && echo 1 || echo 0)
    same $expected $options filter several once
  done
  lanebloom screen -j3 filter several once | cmp - <(cat several once)
  exec 5<several # standard input then has the rest of the file
  read -r line <&5
  lanebloom screen -j3 filter <&5 | cmp - <(tail -n +2 several)
  exec 5<&-
}

@test "screen: many small inputs" {
  numbers 1 500 >keys
  lanebloom build -o filter keys
  awk '{ file = "small" NR; print >file; close(file) }' keys
  for jobs in -j1 -j2 -j8 ""; do
    lanebloom screen $jobs filter small{1..500} | cmp - keys
  done
}

@test "screen and build: records longer than any read" {
  make_lines
  { head -n 1000 lines; head -c 3000000 /dev/zero | tr '\0' a; echo; cat lines
    head -c 2100000 /dev/zero | tr '\0' b; echo; echo
    head -c 5000000 /dev/zero | tr '\0' c; } >long
  lanebloom build -j1 -o filter long
  for jobs in -j1 -j2 -j3; do
    lanebloom build $jobs -o other long
    cmp filter other
    cat long | lanebloom screen $jobs filter | cmp - <(cat long; echo)
    lanebloom screen $jobs -n filter long | cmp - <(grep -an '' long)
  done
}

@test "screen: pipes that come in pieces of any size" {
  make_lines
  lanebloom screen -j1 -n filter lines >expected
  for size in 4099 65536 100003; do
    for jobs in -j1 -j2 -j8; do
      dd if=lines bs=$size status=none | lanebloom screen $jobs -n filter | cmp - expected
    done
  done
}

@test "screen: matches show at once while the input stays open" {
  numbers 1 3 | lanebloom build -o filter
  for jobs in -j1 -j2 -j4 "-j1 -n" "-j2 -n"; do
    mkfifo in out
    "$LANEBLOOM" screen $jobs filter <in >out 3>&- &
    exec 5>in 6<out
    for key in key-00000001 key-00000002 key-00000001 key-00000003; do
      printf '%s\nkey' $key >&5
      read -r -t 5 line <&6
      [[ $line == *"$key" ]]
      printf '%s\n' -00000001 >&5
      read -r -t 5 line <&6
      [[ $line == *key-00000001 ]]
    done
    exec 5>&- 6<&-
    wait $!
    rm in out
  done
}

@test "screen -q stops at once, though others wait for input" {
  numbers 1 3 | lanebloom build -o filter
  for jobs in -j1 -j2 -j4; do
    mkfifo in
    exec 5<>in
    timeout 5 "$LANEBLOOM" screen $jobs -q filter in 5>&- &
    echo key-00000002 >&5
    wait $!
    exec 5>&-
    rm in
    yes key-00000001 | timeout 5 "$LANEBLOOM" screen $jobs -q filter
  done
}

@test "a closed pipe and a full device end quickly" {
  make_lines
  absent=$(seq 100 | lanebloom screen -v filter | head -n 1) # a record that is no false positive
  for jobs in -j1 -j2 -j4; do
    for options in "" -n; do
      run --separate-stderr bash -o pipefail \
        -c "timeout 20 '$LANEBLOOM' screen $jobs $options filter keys keys keys | head -n 1 | wc -l"
      [[ $status -eq 141 && $output -eq 1 && -z $stderr ]] ||
        { echo "status $status, $output lines, $stderr"; return 1; }
      run --separate-stderr bash -o pipefail \
        -c "yes $absent | timeout 20 '$LANEBLOOM' screen $jobs $options -v filter | head -n 1 |
          wc -l"
      [[ $status -eq 141 && $output -eq 1 && -z $stderr ]] ||
        { echo "status $status, $output lines, $stderr"; return 1; }
      run --separate-stderr bash -o pipefail \
        -c "trap '' PIPE; timeout 20 '$LANEBLOOM' screen $jobs $options filter keys | head -n 1 |
          wc -l"
      [[ $status -eq 2 && $output -eq 1 && -z $stderr ]]
      fails_with "write error: No space left on device" bash \
        -c "yes $absent | timeout 20 '$LANEBLOOM' screen $jobs $options -v filter >/dev/full"
    done
  done
}

@test "--progress counts what all threads did" {
  make_lines
  nlines=$(wc -l <lines)
  for jobs in -j1 -j2 -j8; do
    run -0 --separate-stderr lanebloom screen $jobs --progress -c filter lines lines
    [[ ${stderr_lines[-1]} =~ ^lanebloom:\ $((2 * nlines))\ records,\ [0-9]+\ per\ second$ ]]
    run -0 --separate-stderr lanebloom build $jobs --progress -o other lines lines
    [[ ${stderr_lines[-1]} =~ ^lanebloom:\ $((2 * nlines))\ records,\ [0-9]+\ per\ second$ ]]
    run -2 --separate-stderr lanebloom build $jobs --progress -o other lines missing lines
    [[ ${stderr_lines[-2]} == "lanebloom: missing: "* &&
      ${stderr_lines[-1]} == "lanebloom: $nlines records, "* ]]
  done
}

@test "build: the same bytes, whatever the options" {
  make_lines
  # makes equal neighbours, also across the ends of chunks
  awk '{ for (i = NR % 3; i < 3; i++) print }' keys >repeated
  yes same | head -n 300000 >>repeated
  local several=-j3 large=12000000 # above 14 MiB, large batches fill a filter by partitions
  local more=("--format leveldb" "--expected 100000" "--expected 7" "--rate 0.01 --expected 400000")
  ! exhaustive || several="-j2 -j3 --jobs=8 --" large=100000000
  exhaustive || more=()
  for options in "" "--format rocksdb-legacy --bits 5" "--format leveldb --expected 500000" \
    "--rate 0.02" "--format leveldb --expected $large" "${more[@]}"; do
    lanebloom build -j1 $options -o one repeated lines
    for jobs in $several; do
      [[ $jobs == -- ]] && jobs=
      lanebloom build $jobs $options -o other repeated lines
      cmp one other
    done
    cat repeated lines | lanebloom build -j2 $options -o other 2>/dev/null && cmp one other ||
      [[ $options == "--rate 0.02" ]]
  done
}

@test "build: a filter for each thread, or one where memory is short" {
  address_space_can_be_limited ||
    skip "this binary reserves address space, as sanitizers and emulators do"
  seq 1000000 >keys
  for options in "--format leveldb --bits 100" "--format rocksdb-legacy --bits 100"; do
    lanebloom build -j1 $options -o one keys # 12.5 MB
    lanebloom build -j5 $options -o other keys
    cmp one other
    (
      ulimit -v 65000 # kB: too little for five such filters
      lanebloom build -j5 $options -o other keys
    )
    cmp one other
  done
}

@test "build: chunks are merged in order" {
  # A run of equal keys is stored once. If chunks were merged out of order, runs would be broken and
  # more keys stored. With a hundred bits per key, the size would show that.
  for i in {1..40}; do yes "block-$((i / 2))" | head -c 524288 | head -n -1; done >blocks
  lanebloom build -j1 --bits 100 -o one blocks
  for jobs in -j2 -j3 -j8 -j8 -j8; do
    lanebloom build $jobs --bits 100 -o other blocks
    cmp one other
  done
}

@test "build: an input that cannot be read ends it, with one message" {
  make_lines
  for jobs in -j1 -j2 -j8; do
    for options in "" "--expected 100000" "--rate 0.1"; do
      fails_with "missing: No such file or directory" \
        lanebloom build $jobs $options -o other lines missing lines missing
      fails_with ".: Is a directory" lanebloom build $jobs $options -o other . lines
    done
  done
  [[ ! -e other ]]
}

@test "where no thread is to be had, those that are there do" {
  address_space_can_be_limited ||
    skip "this binary reserves address space, as sanitizers and emulators do"
  make_lines
  lanebloom screen -j1 filter lines lines lines lines >expected
  (
    ulimit -v 30000 # kB; a worker takes 1700
    lanebloom screen -j 64 filter lines lines lines lines | cmp - expected
  )
}
