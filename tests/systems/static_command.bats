# The static command of scripts/static-command.sh: it needs nothing of the system that it runs on.
# COMMAND is its path, and EMULATOR runs it if it is for another CPU.
# SPDX-License-Identifier: MIT

setup() {
  cd "$BATS_TEST_TMPDIR"
  seq 1000 >keys
  seq 500 3 3000 >rows
}

run_command() { # ARGUMENT...
  # shellcheck disable=SC2086 # no emulator is no word
  ${EMULATOR-} "$COMMAND" "$@"
}

@test "the program has no interpreter and needs no library" {
  readelf -lW "$COMMAND" >segments
  [ "$(grep -c LOAD segments)" -gt 0 ]
  [ "$(grep -c INTERP segments)" -eq 0 ]
  [ "$(readelf -dW "$COMMAND" | grep -c NEEDED)" -eq 0 ]
}

@test "it reads gzip, zstd and JSON lines, and knows the codecs of tables" {
  run_command --version >version
  grep -q 'gzip zstd JSON-lines' version
  for codec in snappy zstd bzip2 lz4 zlib; do grep -q "$codec" version; done
}

@test "it builds and screens" {
  run_command build -o seen.lbf keys
  run_command screen seen.lbf rows >found
  awk '$1 <= 1000' rows >members
  [ "$(comm -23 <(sort members) <(sort found) | wc -l)" -eq 0 ]
  [ "$(wc -l <found)" -lt 250 ]
}

@test "it runs in a root with nothing but itself and /proc" {
  [ -z "${EMULATOR-}" ] || skip "the emulator is not in that root"
  [ "$(id -u)" = 0 ] || skip "only root may call chroot"
  mkdir -p root/proc
  cp "$COMMAND" keys rows root/
  mount -t proc proc root/proc || skip "/proc cannot be mounted"
  local status=0
  chroot root /lanebloom build -o seen.lbf keys &&
    chroot root /lanebloom build --force -o seen.lbf keys &&
    chroot root /lanebloom screen seen.lbf rows >found || status=$?
  umount root/proc
  [ $status -eq 0 ]
  run_command screen root/seen.lbf rows >expected
  cmp expected found
  [ "$(ls -A root | wc -l)" -eq 5 ] # no temporary file is left
}

@test "the licences of all parts are beside it" {
  local folder
  folder=$(dirname "$COMMAND")
  grep -q argp "$folder/NOTICE"
  for part in lanebloom musl argp-LGPL-3 argp-GPL-3 json-c simdjson zlib zstd lz4 snappy bzip2 \
    xxhash llvm-libcxx; do
    [ -s "$folder/licenses/$part" ]
  done
}
