# Untrusted input: names, links, folders, sizes and the environment.
# SPDX-License-Identifier: MIT
load helper

make_filter() {
  numbers 1 1000 >keys
  lanebloom build -o filter keys
}

# without_privilege COMMAND...: runs a command that file modes restrict, even if root runs the test.
without_privilege() {
  if [[ $(id -u) -eq 0 ]]; then
    setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-all "$@"
  else
    "$@"
  fi
}

# ---- links ----

@test "-o LINK: the file behind it is replaced, or made; the link stays" {
  make_filter
  mkdir other
  echo old >other/real
  ln -s other/real link
  ln -s other/new dangling
  ln -s link chain
  for link in link dangling chain; do
    lanebloom build --force -o $link keys
    [[ -L $link && ! -L $(realpath $link) ]]
    cmp $link filter
  done
  [[ $(ls -A other) == $'new\nreal' ]]
}

@test "-o LINK that leads to no file that can be" {
  make_filter
  mkdir folder
  ln -s folder to-folder
  ln -s missing/file to-missing
  ln -s loop loop
  ln -s keys/below below-file
  fails_with "to-folder: Is a directory" lanebloom build -o to-folder keys
  fails_with "to-missing: No such file or directory" lanebloom build -o to-missing keys
  fails_with "ymbolic link" lanebloom build -o loop keys
  fails_with "below-file: Not a directory" lanebloom build -o below-file keys
  [[ $(ls -A . folder) == \
    $'.:\nbelow-file\nfilter\nfolder\nkeys\nloop\nto-folder\nto-missing\n\nfolder:' ]]
}

@test "-o LINK to what is no regular file is written to directly" {
  make_filter
  ln -s /dev/null null
  mkfifo fifo
  ln -s fifo pipe
  lanebloom build -o null keys
  cat fifo >copy &
  timeout 60 "$LANEBLOOM" build -o pipe keys
  wait $!
  cmp copy filter
  [[ -L null && -L pipe && -p fifo && $(ls -A) == $'copy\nfifo\nfilter\nkeys\nnull\npipe' ]]
}

# The file system follows no links, as with fs.protected_symlinks for links of other users in /tmp.
@test "links that the system does not follow are not followed" {
  unshare -rm bash -c 'mount -t tmpfs -o nosymfollow none "$1"' - "$PWD" 2>/dev/null ||
    skip "no mount namespace to be had"
  make_filter
  run -0 unshare -rm bash -c '
    mkdir closed && mount -t tmpfs -o nosymfollow none closed && cd closed
    cp ../keys ../filter . && echo old >real && ln -s real link && ln -s new dangling &&
      ln -s filter readable
    "$1" build -o link keys; echo $?
    "$1" build -o dangling keys; echo $?
    "$1" screen -c readable keys; echo $?
    cat real; ls' - "$LANEBLOOM"
  [[ $output == "lanebloom: link: Too many levels of symbolic links
2
lanebloom: dangling: Too many levels of symbolic links
2
lanebloom: readable: Too many levels of symbolic links
2
old
dangling
filter
keys
link
readable
real" ]]
}

# ---- filters whose headers are wrong ----

@test "a container is read as far as its header goes, however long it is" {
  make_filter
  expected="too long: expected a payload of 1285 bytes after the header, found more"
  run -2 --separate-stderr bash \
    -c '{ cat filter; head -c 400000000 /dev/zero && : >whole; } | "$1" info /dev/stdin' \
    - "$LANEBLOOM"
  is_message "/dev/stdin: $expected"
  [[ ! -e whole ]]
  cp filter sparse
  truncate -s 1T sparse
  fails_with "sparse: $expected" lanebloom info sparse
  fails_with "sparse: $expected" lanebloom screen sparse keys
}

@test "a filter beyond what RocksDB can hold is refused before it is read" {
  : >keys
  for size in 4294967296 5368709120 1099511627776; do
    rm -f raw
    truncate -s $size raw
    for format in rocksdb rocksdb-local rocksdb-legacy; do
      fails_with \
        "raw: expected at most the 4294967295 bytes that $format can hold, found $size" \
        lanebloom screen --raw --format $format raw keys
    done
  done
}

# ---- names ----

# Each of these names has something that is unsafe to print: a line end; an escape sequence; an
# escape sequence that begins with a single C1 character; a byte that is not UTF-8; a surrogate; a
# number beyond Unicode; or a character that reverses the text after it.
hostile=($'two\nlines' $'esc\033[31m' $'csi\302\23331m' $'latin\377' $'surrogate\355\240\200'
  $'beyond\364\220\200\200' $'five\370\210\200\200\200' $'turned\342\200\256')

# prints_plainly COMMAND...: runs the command, and checks that its output is safe to show on a
# terminal, whatever the exit status.
prints_plainly() {
  "$@" >out 2>err </dev/null || true
  [[ -s out || -s err ]] || { echo "printed nothing: $*"; return 1; }
  ! LC_ALL=C grep -n '[^ -~]' out err && [[ $(cat out err | wc -l) -le 16 ]]
}

@test "every message escapes the names and the texts in it" {
  make_filter
  mkdir folder
  name=$(printf %s "${hostile[@]}")
  cp filter "$name"
  echo '{}' >json
  field=$(printf %s "${hostile[@]:1}")
  printf '%s\t%s\n' "$field" "$field" >twice
  printf 'a\t%s\n1\n' "$field" >short
  while read -ra words; do
    prints_plainly "$LANEBLOOM" "${words[@]//@/"$name"}" ||
      { echo "${words[*]}"; cat -v out err; false; }
  done <<'COMMANDS'
@
--@
info --@=@
info --=@
info missing/@
info folder/../@
info --kernel @ filter
info --raw --format @ filter
info --measure=@ filter
screen missing/@ keys
screen filter missing/@
screen --db @ keys
screen --db missing/@ keys
screen --which --db missing/@ keys
build -o missing/@ keys
build -o missing keys/@
build -o @ @
build -o x --format @
build -o x --format rocksdb --expected @
build -o x --expected @
build -o x --bits @
build -o x --rate @
build -o x --width @
build -o x --jobs @
hash missing/@
hash --format leveldb --filter @
tables @
tables missing/@
tables --writer @ folder
extract @ -o x
verify missing/@
merge -o x filter missing/@
match missing/@ keys
screen --filters-from missing/@ keys
screen --filter @ --filter @ keys
screen --parquet missing/@ --column @ keys
screen --jsonl -f @ filter json
screen --csv -f @ filter keys
screen --annotate=@ --csv -f 1 filter keys
COMMANDS
  for file in twice short; do
    prints_plainly "$LANEBLOOM" screen -c --tsv -f "$field" filter $file
  done
  LANEBLOOM_KERNEL=$name prints_plainly "$LANEBLOOM" info filter
}

@test "JSON is JSON, and UTF-8, whatever the names" {
  make_filter
  mkdir db
  for name in "${hostile[@]}"; do
    cp filter "$name"
    cp "$BATS_TEST_DIRNAME/../vectors/tables/rocksdb_fv5_xxh3_flb10.sst" "db/$name.sst"
  done
  for locale in C.UTF-8 C no-such; do
    LC_ALL=$locale lanebloom info --json "${hostile[@]}" >json
    LC_ALL=$locale lanebloom tables --json db >>json
    [[ $(wc -l <json) -eq $((2 * ${#hostile[@]})) ]]
    iconv -f UTF-8 -t UTF-16 json >utf16
    [[ $(jq -c .file json | wc -l) -eq $((2 * ${#hostile[@]})) ]]
  done
  [[ $(jq -r .file json | grep -c '\\364\\220\\200\\200') -eq 2 &&
    $(jq -r .file json | grep -c '\\377') -eq 2 ]]
}

# ---- outputs that are also inputs ----

@test "an output that is an input, by whatever name, is refused and left as it was" {
  make_filter
  cp keys keys.before
  cp keys other
  cp filter filter.before
  cp "$BATS_TEST_DIRNAME/../vectors/tables/rocksdb_fv5_xxh3_flb10.sst" table.sst
  cp table.sst table.before
  for file in keys filter table.sst; do
    ln $file hard-$file
    ln -s $file soft-$file
  done
  for prefix in "" hard- soft-; do
    file=${prefix}keys
    fails_with "input file is also the output" lanebloom build --force -o $file keys
    fails_with "input file is also the output" lanebloom build --force -o keys other $file
    for command in "build -o - $file" "build -o /dev/stdout $file" "screen -v filter $file" \
      "screen -n filter $file" "hash $file"; do
      run -2 --separate-stderr bash -c "\$1 $command >>keys" - "$LANEBLOOM"
      is_message "$file: input file is also the output"
    done
    file=${prefix}filter
    for command in "screen $file keys" "screen -c $file keys" "info $file" "info --json $file" \
      "hash --filter $file keys"; do
      run -2 --separate-stderr bash -c "\$1 $command >>filter" - "$LANEBLOOM"
      is_message "$file: input file is also the output"
    done
    file=${prefix}table.sst
    fails_with "input file is also the output: write to another file" \
      lanebloom extract --force table.sst -o $file
    for command in "tables $file" "tables --json $file" "screen --db $file keys" \
      "screen -v --db $file keys" "extract $file -o -"; do
      run -2 --separate-stderr bash -c "\$1 $command >>table.sst" - "$LANEBLOOM"
      is_message "also the output"
    done
  done
  cmp keys keys.before
  cmp filter filter.before
  cmp table.sst table.before
}

# ---- modes and folders ----

@test "modes: neither more rights than the old file gave, nor set-user-ID" {
  make_filter
  for mode in 600 640 400 666 755; do
    echo old >target
    chmod $mode target
    (umask 077 && without_privilege "$LANEBLOOM" build --force -o target keys)
    [[ $(stat -c %a target) == $mode ]]
    cmp target filter
  done
  chmod 6755 target
  lanebloom build -o target keys
  [[ $(stat -c %a target) == 755 ]]
  for mask in 022 077 027 000; do
    rm target
    (umask $mask && lanebloom build -o target keys)
    [[ $(stat -c %a target) == $(printf %o $((0666 & ~0$mask))) ]]
  done
}

@test "what may not be read, and folders that may not be written to" {
  make_filter
  mkdir -m 000 closed
  mkdir -m 555 fixed
  cp filter secret
  cp filter fixed-filter
  chmod 000 secret
  for command in "info secret" "screen secret keys" "screen filter secret" "hash secret" \
    "hash --filter secret keys" "build -o new secret" \
    "info closed/filter" "screen filter closed/keys" "tables closed" "tables closed/table.sst" \
      "screen --db closed keys" \
    "build -o closed/new keys" "build -o fixed/new keys" "extract secret -o new"; do
    run --separate-stderr without_privilege "$LANEBLOOM" $command
    [[ $status -eq 2 && -z $output && ${#stderr_lines[@]} -eq 1 &&
      $stderr == *": Permission denied" ]] ||
      { echo "$command: $status, $output, $stderr"; false; }
  done
  chmod 755 closed fixed # so that the folders can be removed
  [[ ! -e new && -z $(ls -A fixed) ]]
}

@test "a folder that vanishes while the filter is built" {
  mkdir folder
  mkfifo fifo
  "$LANEBLOOM" build -o folder/filter fifo 2>err &
  exec 7>fifo
  rmdir folder
  echo key >&7
  exec 7>&-
  status=0
  wait $! || status=$?
  [[ $status -eq 2 && $(cat err) == "lanebloom: folder/filter: No such file or directory" &&
    ! -e folder ]]
}

# ---- the environment ----

@test "what the environment says changes no result" {
  make_filter
  lanebloom info --json filter >expected
  lanebloom screen -n filter keys >>expected
  for setting in TMPDIR=/nonexistent LC_ALL=de_DE.UTF-8 LC_ALL=$'\033' LANG=no-such \
    LOCPATH=/nonexistent LANGUAGE=de COLUMNS=-1 \
    COLUMNS=99999999999 HOME= IFS=/ ARGP_HELP_FMT=x POSIXLY_CORRECT=1 MALLOC_PERTURB_=85; do
    env "$setting" "$LANEBLOOM" info --json filter >found 2>err
    env "$setting" "$LANEBLOOM" screen -n filter keys >>found 2>>err
    cmp found expected
    [[ ! -s err ]] || { echo "$setting"; cat err; false; }
  done
}
