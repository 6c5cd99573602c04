#!/usr/bin/env bats
# The installed package: CMake and pkg-config find it, it can be moved, and it exports only names
# that begin with lanebloom_.
# SPDX-License-Identifier: MIT

setup_file() {
  export CMAKE_GENERATOR=Ninja
  cmake --install "$BUILD_DIR" --prefix "$BATS_FILE_TMPDIR/first" >/dev/null
  mv "$BATS_FILE_TMPDIR/first" "$BATS_FILE_TMPDIR/moved"
  export PREFIX="$BATS_FILE_TMPDIR/moved"
  LIBDIR=$(dirname "$(find "$PREFIX" -name liblanebloom.a)")
  export LIBDIR PKG_CONFIG_PATH="$LIBDIR/pkgconfig"
}

@test "a CMake project finds it, shared, static and from C++" {
  cmake -S "$SOURCE_DIR/tests/install/consumer" -B "$BATS_TEST_TMPDIR" \
    -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_C_COMPILER="$CC"
  cmake --build "$BATS_TEST_TMPDIR"
  for program in shared static cplusplus; do "$BATS_TEST_TMPDIR/$program"; done
}

@test "another minor version is not what was asked for" {
  sed 's/lanebloom 0.1/lanebloom 0.2/' "$SOURCE_DIR/tests/install/consumer/CMakeLists.txt" \
    >"$BATS_TEST_TMPDIR/CMakeLists.txt"
  cp "$SOURCE_DIR"/tests/install/consumer/consumer.* "$BATS_TEST_TMPDIR"
  run cmake -S "$BATS_TEST_TMPDIR" -B "$BATS_TEST_TMPDIR/build" -DCMAKE_PREFIX_PATH="$PREFIX"
  [ "$status" != 0 ]
  [[ $output == *"compatible with requested version"* ]]
}

@test "a component that is not there is no part of what CMake finds" {
  find() { # WORDS: the arguments of find_package()
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(consumer LANGUAGES C)' \
      "find_package(lanebloom $*)" 'if(lanebloom_FOUND)' 'message(STATUS "It is found.")' \
      'endif()' >"$BATS_TEST_TMPDIR/CMakeLists.txt"
    rm -rf "$BATS_TEST_TMPDIR/build"
    run cmake -S "$BATS_TEST_TMPDIR" -B "$BATS_TEST_TMPDIR/build" -DCMAKE_PREFIX_PATH="$PREFIX"
    echo "$output"
    output=$(tr -s ' \n' '  ' <<<"$output")
  }
  local there="lanebloom lanebloom-static tables tables-static parquet parquet-static"
  find REQUIRED COMPONENTS "$there"
  [[ $status = 0 && $output == *"It is found."* ]]
  for words in "COMPONENTS foo" "COMPONENTS lanebloom foo baz" \
    "COMPONENTS foo OPTIONAL_COMPONENTS bar"; do
    find REQUIRED "$words"
    [[ $status != 0 ]]
    [[ $output == *"expected components of lanebloom, found foo; this installation has: $there"* ]]
    find "$words"
    [[ $status = 0 && $output != *"It is found."* ]]
  done
  find REQUIRED COMPONENTS tables OPTIONAL_COMPONENTS foo
  [[ $status = 0 && $output == *"It is found."* ]]
}

@test "pkg-config finds it" {
  read -ra flags <<<"$(pkg-config --cflags --libs lanebloom)"
  "$CC" -std=c11 -pedantic -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/consumer" \
    "$SOURCE_DIR/tests/install/consumer/consumer.c" "${flags[@]}"
  LD_LIBRARY_PATH=$LIBDIR "$BATS_TEST_TMPDIR/consumer"
}

@test "a compiler warns of a status that is ignored, in C and in C++" {
  printf '%s\n' '#include <lanebloom.h>' 'int main(void)' '{' '  lanebloom_kernel_use("scalar");' \
    '}' >"$BATS_TEST_TMPDIR/ignores.c"
  for language in "c -std=c11" "c -std=c2x" "c++ -std=c++11" "c++ -std=c++17"; do
    echo "$language"
    read -ra flags <<<"$language"
    run "$CC" -x "${flags[@]}" -pedantic -Werror -I "$PREFIX/include" \
      -c "$BATS_TEST_TMPDIR/ignores.c" -o "$BATS_TEST_TMPDIR/ignores.o"
    echo "$output"
    [ "$status" != 0 ]
    [[ $output == *unused-result\]* && $(grep -c 'error:' <<<"$output") = 1 ]]
  done
}

@test "header, library and package have one version" {
  numbers=$(sed -n 's/^#define LANEBLOOM_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' \
    "$PREFIX/include/lanebloom.h" | paste -sd .)
  [ "$(pkg-config --modversion lanebloom)" = "$numbers" ]
  [ "$("$PREFIX/bin/lanebloom" --version | head -n 1)" = "lanebloom $numbers" ]
}

# The library is built without compilers of other languages, so a missing compiler is no error. A
# compiler that is installed may still not run: rustup's needs a toolchain.
needs() { # COMPILER ARGUMENT...: a command that prints its version
  "$@" >/dev/null 2>&1 || skip "no $1 runs here"
}

@test "a Rust program links it" {
  needs rustc --version
  rustc -D warnings -O -o "$BATS_TEST_TMPDIR/consumer" -L "native=$LIBDIR" -l dylib=lanebloom \
    "$SOURCE_DIR/tests/install/consumer/consumer.rs"
  LD_LIBRARY_PATH=$LIBDIR "$BATS_TEST_TMPDIR/consumer"
}

@test "a Go program links it, with keys in C memory and pinned ones" {
  needs go version
  cp -r "$SOURCE_DIR/tests/install/consumer/go" "$BATS_TEST_TMPDIR/go"
  cd "$BATS_TEST_TMPDIR/go"
  CGO_ENABLED=1 GOTOOLCHAIN=local GOFLAGS=-mod=mod go build -o ../consumer .
  LD_LIBRARY_PATH=$LIBDIR "$BATS_TEST_TMPDIR/consumer"
}

# Writes tables.c, a program that needs the library for database files.
make_user_of_tables() {
  cat >"$BATS_TEST_TMPDIR/tables.c" <<'END'
#include <lanebloom_tables.h>
int main(void)
{
  lanebloom_table *table;
  return lanebloom_table_parse("no table", 8, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) !=
         LANEBLOOM_ERR_FORMAT;
}
END
}

@test "the library for database files: CMake, pkg-config, exports" {
  make_user_of_tables
  cat >"$BATS_TEST_TMPDIR/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(lanebloom 0.1 REQUIRED)
foreach(kind IN ITEMS tables tables-static)
  add_executable(by-${kind} tables.c)
  target_link_libraries(by-${kind} PRIVATE lanebloom::${kind})
endforeach()
END
  cmake -S "$BATS_TEST_TMPDIR" -B "$BATS_TEST_TMPDIR/build" \
    -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_C_COMPILER="$CC"
  cmake --build "$BATS_TEST_TMPDIR/build"
  "$BATS_TEST_TMPDIR/build/by-tables"
  "$BATS_TEST_TMPDIR/build/by-tables-static"
  read -ra flags <<<"$(pkg-config --cflags --libs lanebloom-tables)"
  "$CC" -std=c11 -pedantic -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/consumer" \
    "$BATS_TEST_TMPDIR/tables.c" "${flags[@]}"
  LD_LIBRARY_PATH=$LIBDIR "$BATS_TEST_TMPDIR/consumer"
  run bash -c "nm -D --defined-only '$LIBDIR/liblanebloom-tables.so' |
    awk '{ print \$3 }' | grep -v ^lanebloom_"
  [ -z "$output" ]
  run bash -c "nm -g --defined-only '$LIBDIR/liblanebloom-tables.a' |
    awk 'NF == 3 { print \$3 }' | grep -v ^lanebloom_"
  [ -z "$output" ]
}

@test "the library for Parquet files: CMake, pkg-config, exports" {
  cat >"$BATS_TEST_TMPDIR/parquet.c" <<'END'
#include <lanebloom_parquet.h>
int main(void)
{
  lanebloom_parquet *file;
  return lanebloom_parquet_parse("no Parquet file", 15, LANEBLOOM_PARQUET_BOUNDS_KNOWN, &file, NULL,
                                 0) != LANEBLOOM_ERR_FORMAT;
}
END
  cat >"$BATS_TEST_TMPDIR/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(lanebloom 0.1 REQUIRED)
foreach(kind IN ITEMS parquet parquet-static)
  add_executable(by-${kind} parquet.c)
  target_link_libraries(by-${kind} PRIVATE lanebloom::${kind})
endforeach()
END
  cmake -S "$BATS_TEST_TMPDIR" -B "$BATS_TEST_TMPDIR/build" \
    -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_C_COMPILER="$CC"
  cmake --build "$BATS_TEST_TMPDIR/build"
  "$BATS_TEST_TMPDIR/build/by-parquet"
  "$BATS_TEST_TMPDIR/build/by-parquet-static"
  read -ra flags <<<"$(pkg-config --cflags --libs lanebloom-parquet)"
  for language in "c -std=c11" "c++ -std=c++11"; do
    read -ra as <<<"$language"
    "$CC" -x "${as[@]}" -pedantic -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/consumer" \
      "$BATS_TEST_TMPDIR/parquet.c" "${flags[@]}"
    LD_LIBRARY_PATH=$LIBDIR "$BATS_TEST_TMPDIR/consumer"
  done
  nm -D --defined-only "$LIBDIR/liblanebloom-parquet.so" | awk '{print $3}' |
    sort >"$BATS_TEST_TMPDIR/exported"
  grep -oE '\<lanebloom_parquet_[a-z_]+\(' "$PREFIX/include/lanebloom_parquet.h" |
    tr -d '(' | sort -u >"$BATS_TEST_TMPDIR/named"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/exported")" -ge 10 ]
  diff "$BATS_TEST_TMPDIR/exported" "$BATS_TEST_TMPDIR/named"
  run bash -c "nm -g --defined-only '$LIBDIR/liblanebloom-parquet.a' |
    awk 'NF == 3 { print \$3 }' | grep -v ^lanebloom_"
  [ -z "$output" ]
  run readelf -d "$LIBDIR/liblanebloom-parquet.so"
  others=$(grep NEEDED <<<"$output" | grep -vE 'lib(c|m|lanebloom)\.so' || true)
  [ -z "$others" ]
}

@test "LevelDB's policy compiles alone, in C and in C++, and runs with the shared LevelDB" {
  echo '#include <leveldb/c.h>' | "$CC" -E - >/dev/null 2>&1 || skip "no LevelDB"
  cat >"$BATS_TEST_TMPDIR/policy.c" <<'END'
#include <lanebloom_leveldb.h>
int main(void)
{
  leveldb_filterpolicy_t *policy = lanebloom_leveldb_filterpolicy_create(10);
  int failed = !policy || lanebloom_leveldb_filterpolicy_create(-1);
#ifdef __cplusplus
  const leveldb::FilterPolicy *other = lanebloom::NewLevelDBFilterPolicy(10);
  const leveldb::Slice key("key");
  std::string filter;
  other->CreateFilter(&key, 1, &filter);
  failed |= !other->KeyMayMatch(key, filter) || other->KeyMayMatch("other", filter);
  delete other;
#endif
  leveldb_filterpolicy_destroy(policy);
  return failed;
}
END
  read -ra flags <<<"$(pkg-config --cflags --libs lanebloom) -lleveldb -lstdc++"
  for language in "c -std=c11" "c++ -std=c++11" "c++ -std=c++17"; do
    echo "$language"
    read -ra as <<<"$language"
    "$CC" -x "${as[@]}" -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror \
      -o "$BATS_TEST_TMPDIR/policy" "$BATS_TEST_TMPDIR/policy.c" "${flags[@]}"
    LD_LIBRARY_PATH=$LIBDIR "$BATS_TEST_TMPDIR/policy"
  done
}

@test "the example of LevelDB's policy compacts a database" {
  [ -n "${DATABASES-}" ] || skip "this build has no LevelDB and RocksDB"
  cd "$BATS_TEST_TMPDIR"
  read -ra flags <<<"$(pkg-config --cflags --libs lanebloom) -lleveldb -lstdc++"
  "$CC" -x c++ -std=c++11 -O2 -pedantic -Wall -Wextra -Werror -o compact \
    "$PREFIX/share/doc/lanebloom/examples/leveldb_compact.cc" "${flags[@]}"
  export LD_LIBRARY_PATH=$LIBDIR
  "$DATABASES" make leveldb-tables db
  cp -r db other
  "$DATABASES" keys leveldb-tables db >keys
  run ./compact db
  [ "$status" = 0 ]
  [[ ${#lines[@]} = 2 && $output == *"compacted in "*" filters of "*" times as fast" ]]
  run ./compact --built-in --alone other 10
  [ "$status" = 0 ]
  [[ ${#lines[@]} = 1 && $output != *": 0 filters"* ]]
  "$DATABASES" keys leveldb-tables db | cmp - keys
  run ./compact none
  [ "$status" = 2 ]
  run ./compact other -1
  [ "$status" = 2 ]
}

@test "pkg-config finds it for static linking" {
  read -ra flags <<<"$(pkg-config --static --cflags --libs lanebloom)"
  "$CC" -std=c11 -static -o "$BATS_TEST_TMPDIR/consumer" \
    "$SOURCE_DIR/tests/install/consumer/consumer.c" "${flags[@]}"
  "$BATS_TEST_TMPDIR/consumer"
}

@test "pkg-config finds the library for database files for static linking" {
  make_user_of_tables
  read -ra flags <<<"$(pkg-config --static --cflags --libs lanebloom-tables)"
  "$CC" -std=c11 -static -o "$BATS_TEST_TMPDIR/consumer" "$BATS_TEST_TMPDIR/tables.c" \
    "${flags[@]}"
  "$BATS_TEST_TMPDIR/consumer"
}

@test "README's program compiles and does what README says" {
  sed -n '/^```c$/,/^```$/p' "$SOURCE_DIR/README.md" | sed '/^```/d' >"$BATS_TEST_TMPDIR/readme.c"
  [ -s "$BATS_TEST_TMPDIR/readme.c" ]
  read -ra flags <<<"$(pkg-config --cflags --libs lanebloom)"
  "$CC" -std=c11 -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/readme" "$BATS_TEST_TMPDIR/readme.c" \
    "${flags[@]}"
  run env LD_LIBRARY_PATH="$LIBDIR" "$BATS_TEST_TMPDIR/readme"
  [ "$status" = 0 ]
  [ "$output" = "2 of 3 keys may be in the filter" ]
}

@test "the shared library exports its headers' functions and nothing else" {
  nm -D --defined-only "$LIBDIR/liblanebloom.so" | awk '{print $3}' |
    sort >"$BATS_TEST_TMPDIR/exported"
  grep -hE '^LANEBLOOM_(API|NODISCARD)' -A2 "$PREFIX"/include/lanebloom{,_arrow}.h |
    grep -o 'lanebloom_[a-z0-9_]*(' | tr -d '(' | sort -u >"$BATS_TEST_TMPDIR/declared"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/declared")" -ge 40 ]
  diff "$BATS_TEST_TMPDIR/declared" "$BATS_TEST_TMPDIR/exported"
}

@test "the static library defines no global name without the prefix" {
  run bash -c "nm -g --defined-only '$LIBDIR/liblanebloom.a' |
    awk 'NF == 3 { print \$3 }' | grep -v ^lanebloom_"
  echo "$output"
  [ -z "$output" ]
}

@test "the shared library has its version in its name and needs libc and libm alone" {
  run readelf -d "$LIBDIR/liblanebloom.so"
  [[ $output == *"soname: [liblanebloom.so.0.1]"* ]]
  others=$(grep NEEDED <<<"$output" | grep -vE 'lib(c|m)\.so' || true)
  [ -z "$others" ]
}

@test "the library never prints, exits or aborts" {
  nm -u "$LIBDIR/liblanebloom.a" | awk 'NF == 2 { print $2 }' | sort -u >"$BATS_TEST_TMPDIR/needed"
  grep -q '^lanebloom_' "$BATS_TEST_TMPDIR/needed"
  local prints='v?[fd]?w?printf(_chk)?|puts?|fputs|putc(har)?|fputc|fwrite|perror|psignal'
  local speaks='v?(err|warn)x?|error|syslog|stdout|stderr'
  local ends='_?[eE]xit|quick_exit|abort|assert_fail'
  run grep -E "^_*($prints|$speaks|$ends)\$" "$BATS_TEST_TMPDIR/needed"
  echo "$output"
  # In debug builds, assertions end a program that violates the documented rules.
  [[ -z $output || ($output == __assert_fail &&
    $(grep CMAKE_BUILD_TYPE: "$BUILD_DIR/CMakeCache.txt") == *=Debug) ]]
}

@test "the installed command runs" {
  run "$PREFIX/bin/lanebloom" --version
  [ "$status" = 0 ]
}

@test "licence, documents, man pages and completions are installed, and uninstalled" {
  cmake --install "$BUILD_DIR" --prefix "$BATS_TEST_TMPDIR/there" >/dev/null
  share=$BATS_TEST_TMPDIR/there/share
  for file in LICENSE README.md docs/recipes.md examples/consumer.c; do
    [ -s "$share/doc/lanebloom/$file" ]
  done
  run python3 "$SOURCE_DIR/tests/tree/links.py" "$share/doc/lanebloom"
  echo "$output"
  [ "$status" = 0 ]
  [ "${output%% *}" -ge 80 ]
  if [ -e "$BUILD_DIR/cli/lanebloom.bash" ]; then
    [ -s "$share/bash-completion/completions/lanebloom" ]
    [ -s "$share/zsh/site-functions/_lanebloom" ]
    [ -s "$share/fish/vendor_completions.d/lanebloom.fish" ]
  fi
  [ ! -e "$BUILD_DIR/cli/lanebloom.1" ] || [ -s "$share/man/man1/lanebloom-screen.1" ]
  cmake -DMANIFEST="$BUILD_DIR/install_manifest.txt" -P "$SOURCE_DIR/cmake/uninstall.cmake"
  [ -z "$(find "$BATS_TEST_TMPDIR/there" -type f -o -type l -o -name 'lanebloom*')" ]
  run cmake -DMANIFEST="$BUILD_DIR/install_manifest.txt" -P "$SOURCE_DIR/cmake/uninstall.cmake"
  [ "$status" != 0 ]
  [[ $(tr -s ' \n' '  ' <<<"$output") == *"nothing was installed from this build"* ]]
}

@test "a package that is made after an installation leaves it to uninstall" {
  cmake --install "$BUILD_DIR" --prefix "$BATS_TEST_TMPDIR/there" >/dev/null
  sort "$BUILD_DIR/install_manifest.txt" >"$BATS_TEST_TMPDIR/installed"
  cpack -G TGZ -B "$BATS_TEST_TMPDIR/package" --config "$BUILD_DIR/CPackConfig.cmake" >/dev/null
  sort "$BUILD_DIR/install_manifest.txt" | diff "$BATS_TEST_TMPDIR/installed" -
  tar -tf "$BATS_TEST_TMPDIR"/package/lanebloom-*.tar.gz |
    sed -n "s:^.*/usr/\\(.*[^/]\\)\$:\\1:p" | sort >"$BATS_TEST_TMPDIR/packed"
  sed "s:^$BATS_TEST_TMPDIR/there/::" "$BATS_TEST_TMPDIR/installed" | sort |
    diff - "$BATS_TEST_TMPDIR/packed"
  touch "$BATS_TEST_TMPDIR/there/lib/other"
  cmake -DMANIFEST="$BUILD_DIR/install_manifest.txt" -P "$SOURCE_DIR/cmake/uninstall.cmake"
  [ "$(find "$BATS_TEST_TMPDIR/there" -type f -o -type l)" = "$BATS_TEST_TMPDIR/there/lib/other" ]
}

@test "uninstall says what it cannot remove" {
  mkdir "$BATS_TEST_TMPDIR/a folder"
  touch "$BATS_TEST_TMPDIR/a folder/file"
  printf '%s\n' "$BATS_TEST_TMPDIR/a folder" >"$BATS_TEST_TMPDIR/manifest"
  run cmake -DMANIFEST="$BATS_TEST_TMPDIR/manifest" -P "$SOURCE_DIR/cmake/uninstall.cmake"
  [ "$status" != 0 ]
  [[ $(tr -s ' \n' '  ' <<<"$output") == *"a folder cannot be removed: uninstall as the user"* ]]
  [ -e "$BATS_TEST_TMPDIR/manifest" ]
}

@test "the Debian package is installed, runs and is removed" {
  needs dpkg-shlibdeps --version
  needs file --version
  [ "$(id -u)" = 0 ] || skip "not root"
  cpack -G DEB -B "$BATS_TEST_TMPDIR" --config "$BUILD_DIR/CPackConfig.cmake" >/dev/null
  package=$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name 'lanebloom_*.deb')
  [ "$(dpkg-deb -f "$package" Package)" = lanebloom ]
  [[ $(dpkg-deb -f "$package" Depends) == *libc6* ]]
  root=$BATS_TEST_TMPDIR/root
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
  touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
  in_root() {
    dpkg --root="$root" --log=/dev/null --force-depends --force-script-chrootless "$@"
  }
  in_root -i "$package"
  seq 10 | "$root/usr/bin/lanebloom" build -o "$BATS_TEST_TMPDIR/ten.lbf"
  [ "$(seq 5 | "$root/usr/bin/lanebloom" screen -c "$BATS_TEST_TMPDIR/ten.lbf")" = 5 ]
  in_root -P lanebloom
  [ -z "$(find "$root/usr" -type f 2>/dev/null)" ]
}
