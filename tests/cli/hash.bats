# lanebloom hash.
# SPDX-License-Identifier: MIT
load helper

@test "LevelDB's hashes: the vectors of its own test" {
  # LevelDB 1.23 util/hash_test.cc hashes these bytes with seed 0xbc9f1d34.
  printf '\x62' >1
  printf '\xc3\x97' >2
  printf '\xe2\x99\xa5' >3
  printf '\xe1\x80\xb9\x32' >4
  hash() { lanebloom hash --format leveldb "$@"; }
  [[ $(hash --width 1 1) == $'ef1345c4\t62' ]]
  [[ $(hash --width 2 2) == $'5b663814\tc397' ]]
  [[ $(hash --width 3 3) == $'323c078f\te299a5' ]]
  [[ $(hash --width 4 4) == $'ed21633a\te180b932' ]]
  [[ $(echo | hash) == $'bc9f1d34\t' ]]
}

@test "RocksDB's hashes, 64 bits by default and 32" {
  # The hashes that RocksDB 7.8.3 makes of "hello" and of the empty key.
  [[ $(printf 'hello\n\n' | lanebloom hash) == $'a0bbc238c97657b5\thello\n5342c3010fe1dd04\t' ]]
  [[ $(printf 'hello\n' | lanebloom hash --format rocksdb-legacy) == $'f795964e\thello' ]]
  refuses "which can only be read" lanebloom hash --format rocksdb
}

@test "Guava's and Cassandra's hashes, of two numbers of 64 bits" {
  # The first is the hash of "hello" by Guava 33.4.8. Cassandra hashes the last bytes as signed.
  printf 'hello\n' >input
  [[ $(lanebloom hash --format guava-64 input) == $'cbd8a7b341bd9b025b1e906a48ae1d19\thello' ]]
  [[ $(lanebloom hash --format guava-32 input) == "$(lanebloom hash --format cassandra input)" ]]
  printf 'caf\303\251\n' >input
  [[ $(lanebloom hash --format guava-32 input) != "$(lanebloom hash --format cassandra input)" ]]
  [[ $(lanebloom hash --format cassandra-2 input) == "$(lanebloom hash --format cassandra input)" ]]
  refuses "which can only be read" lanebloom hash --format guava
}

@test "the record follows the tab as it came" {
  printf 'a b\tc\r\n\n\0x' >input
  lanebloom hash input | cut -f 2- | cmp - <(printf 'a b\tc\r\n\n\0x\n')
  lanebloom hash -z input >nuls
  [[ $(tr -dc '\0' <nuls | wc -c) -eq 2 ]]
}

@test "--format changes the hash" {
  printf 'caf\303\251\303\n' >input
  [[ $(lanebloom hash --format leveldb input) != \
    "$(lanebloom hash --format leveldb-signed input)" ]]
  refuses ", found 'md5'" lanebloom hash --format md5 input
}

@test "--filter prints the bits that are set" {
  numbers 1 3 >keys
  prints_the_bits_of rocksdb-local 5
  prints_the_bits_of rocksdb-legacy 5
  prints_the_bits_of leveldb 1
}

@test "--filter prints the bits that are set, after a header" {
  numbers 1 3 >keys
  for format in guava-32 guava-64 cassandra cassandra-3 cassandra-2; do
    lanebloom build --format $format --raw -o raw keys
    lanebloom build --format $format -o filter keys
    lanebloom hash --filter filter keys | cut -f 2 | tr ' ' '\n' | sort -nu >positions
    header=$([[ $format == guava* ]] && echo 6 || echo 8)
    tail -c +$((header + 1)) raw | od -An -v -tu1 -w1 | awk -v header=$header \
      '{ for (i = 0; i < 8; i++) if (int($1 / 2 ^ i) % 2) print (NR - 1 + header) * 8 + i }' |
      cmp - positions
  done
}

prints_the_bits_of() { # FORMAT TRAILER_BYTES
  lanebloom build --format $1 --raw -o raw keys
  lanebloom build --format $1 -o filter keys
  lanebloom hash --filter filter keys >lines
  [[ $(awk -F '\t' '{ print NF, split($2, a, " ") }' lines | sort -u) == "3 6" ]]
  cut -f 1,3 lines | cmp - <(lanebloom hash --format $1 keys)
  cut -f 2 lines | tr ' ' '\n' | sort -nu >positions
  head -c -$2 raw | od -An -v -tu1 -w1 |
    awk '{ for (i = 0; i < 8; i++) if (int($1 / 2 ^ i) % 2) print (NR - 1) * 8 + i }' |
      cmp - positions
}

@test "--filter implies the format; another is an error" {
  numbers 1 3 >keys
  lanebloom build --format leveldb-signed -o filter keys
  lanebloom hash --filter filter --format leveldb-signed keys >/dev/null
  fails_with "filter: expected format leveldb, found leveldb-signed" \
    lanebloom hash --filter filter --format leveldb keys
  fails_with "missing: No such file" lanebloom hash --filter missing keys
  printf '\303\n' >high
  [[ $(lanebloom hash --filter filter high | cut -f 1) == \
    "$(lanebloom hash --format leveldb-signed high | cut -f 1)" ]]
}

@test "input errors: the others are hashed, status 2" {
  echo a >a
  run -2 --separate-stderr lanebloom hash missing a
  [[ ${#lines[@]} -eq 1 && $stderr == "lanebloom: missing: No such file or directory" ]]
  run -2 --separate-stderr bash -c "timeout 5 '$LANEBLOOM' hash a >>a"
  is_message "a: input file is also the output"
}
