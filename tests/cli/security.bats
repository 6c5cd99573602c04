# What comes from others: names, links, folders, sizes and the environment.
# SPDX-License-Identifier: MIT
load helper

make_filter() {
  numbers 1 1000 >keys
  lanebloom build -o filter keys
}

# without_privilege COMMAND...: as somebody whom modes bind, which root is not.
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
    lanebloom build -o $link keys
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
  fails_with "loop: Too many levels of symbolic links" lanebloom build -o loop keys
  fails_with "below-file: Not a directory" lanebloom build -o below-file keys
  [[ $(ls -A . folder) == $'.:\nbelow-file\nfilter\nfolder\nkeys\nloop\nto-folder\nto-missing\n\nfolder:' ]]
}

@test "-o LINK to what is no regular file is written to directly" {
  make_filter
  ln -s /dev/null null
  mkfifo fifo
  ln -s fifo pipe
  lanebloom build -o null keys
  cat fifo >copy &
  timeout 5 "$LANEBLOOM" build -o pipe keys
  wait $!
  cmp copy filter
  [[ -L null && -L pipe && -p fifo && $(ls -A) == $'copy\nfifo\nfilter\nkeys\nnull\npipe' ]]
}

# As where fs.protected_symlinks stops links of others in /tmp.
@test "links that the system does not follow are not followed" {
  unshare -rm bash -c 'mount -t tmpfs -o nosymfollow none "$1"' - "$PWD" 2>/dev/null || skip "no mount namespace to be had"
  make_filter
  run -0 unshare -rm bash -c '
    mkdir closed && mount -t tmpfs -o nosymfollow none closed && cd closed
    cp ../keys ../filter . && echo old >real && ln -s real link && ln -s new dangling && ln -s filter readable
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

# ---- filters that are not what they say ----

@test "a container is read as far as its header goes, however long it is" {
  make_filter
  expected="too long: expected a payload of 1285 bytes behind the header, found more"
  run -2 --separate-stderr bash -c '{ cat filter; head -c 400000000 /dev/zero && : >whole; } | "$1" info /dev/stdin' - "$LANEBLOOM"
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
      fails_with "raw: beyond what the format can hold (RocksDB's filters have fewer than 2^32 bytes)" \
        lanebloom screen --raw --format $format raw keys
    done
  done
}
