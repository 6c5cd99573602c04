#!/usr/bin/env bats
# An emulated host and this host write the same bytes, and each reads what the other wrote.
# SPDX-License-Identifier: MIT
load ../cli/helper

FORMATS=(leveldb leveldb-signed rocksdb-legacy rocksdb-local)

# LANEBLOOM_NATIVE is the command for this host, which test.sh has built. If it is not set, this
# file builds the command. CC and pkg-config are configured for the other host.
setup_file() {
  export NATIVE="${LANEBLOOM_NATIVE-}"
  [[ -z $NATIVE ]] || return 0
  local build="$BATS_FILE_TMPDIR/build"
  env -u CC -u PKG_CONFIG_LIBDIR cmake -S "$SOURCE_DIR" -B "$build" -G Ninja \
    -DLANEBLOOM_BUILD_TESTS=OFF >/dev/null
  cmake --build "$build" --target lanebloom-cli >/dev/null
  NATIVE="$build/cli/lanebloom"
}

native() {
  "$NATIVE" "$@"
}

# The records also have bytes above 127, because char is signed on some hosts only.
make_records() {
  { numbers 1 3000; printf '\n\303\251t\303\251\n\377\376\375\200\n'; } >keys
  { numbers 2900 22900; cat keys; } >rows
}

# both COMMAND...: runs the command on both hosts, checks that the results are equal, and puts them
# in the file `both`.
both() {
  native "$@" >by-native
  lanebloom "$@" >both
  cmp by-native both || { echo "$*"; return 1; }
}

@test "containers of every format" {
  make_records
  for format in "${FORMATS[@]}"; do
    for options in "--bits 10" "--rate 0.003" "--expected 100000"; do
      native build --format $format $options -o from-native keys
      lanebloom build --format $format $options -o from-other keys
      cmp from-native from-other
      lanebloom info --json --measure - <from-native >native-described
      native info --json --measure - <from-other | cmp - native-described
      for mode in "" -vn -c; do
        lanebloom screen $mode from-native rows >native-screened
        native screen $mode from-other rows | cmp - native-screened
      done
      lanebloom screen from-native keys | cmp - keys
    done
  done
}

@test "engines' own bytes of every format" {
  make_records
  for format in "${FORMATS[@]}"; do
    native build --raw --format $format -o from-native keys
    lanebloom build --raw --format $format -o from-other keys
    cmp from-native from-other
    for reader in $format ${format/#rocksdb-*/rocksdb}; do
      lanebloom info --raw --format $reader --json - <from-native >native-described
      native info --raw --format $reader --json - <from-other | cmp - native-described
      lanebloom screen --raw --format $reader from-native rows >native-screened
      native screen --raw --format $reader from-other rows | cmp - native-screened
      lanebloom screen --raw --format $reader from-native keys | cmp - keys
    done
  done
}

@test "hashes and the bits that they set" {
  make_records
  for format in "${FORMATS[@]}"; do
    both hash --format $format rows
    [[ $(wc -l <both) -eq 23004 ]]
    native build --format $format -o filter keys
    both hash --filter filter keys
  done
}

# Some hosts could round once instead of twice after a product and a sum. The last digits would show
# that.
@test "rates, to the last digit" {
  for format in rocksdb-legacy rocksdb-local leveldb; do
    for bits in {1..40..3}; do
      numbers 1 $((bits * 100)) | native build --format $format --bits $bits -o filter
      both info --json filter
    done
  done
}
