#!/bin/sh
# setup.sh STEP... installs the Debian packages that these steps need and that are missing. usage()
# lists the steps. Exits with 3 if something cannot be installed or downloaded on this machine.
# SPDX-License-Identifier: MIT
set -eu
usage() {
  cat <<'END'
Usage: scripts/setup.sh STEP...
Installs the Debian packages that these steps need and that are missing, as root or by sudo.
Steps: build demo test test-all arm64 s390x riscv64 bench portable portable-arm64 report check
  coverage fuzz duckdb wasm argp musl zig wheels
build installs what the build in README needs. portable and portable-arm64 also build static
libraries from Debian's sources. duckdb downloads DuckDB's headers from npm's registry. zig
downloads the compiler zig, which builds for other systems, from PyPI. argp installs what
scripts/argp.sh needs.
END
}
cd "$(dirname "$0")/.."
root=$PWD

# libraries that decompress database files
codecs="libsnappy-dev libzstd-dev liblz4-dev zlib1g-dev libbz2-dev"
json="g++ libsimdjson-dev" # for --jsonl
build="cmake ninja-build gcc libc6-dev pkg-config libxxhash-dev libjson-c-dev libisal-dev $codecs"
build="$build nettle-dev $json help2man"
demo="$build wamerican-insane wfrench wngerman"
tests="$build g++ libcriterion-dev libleveldb-dev librocksdb-dev libsimde-dev bats jq binutils"
tests="$tests python3 zstd xxd"
report="python3 python3-matplotlib"
coverage="gcovr"
check="$build jq clang-format clang-tidy cppcheck shellcheck gcc-powerpc64le-linux-gnu"
check="$check libc6-dev-ppc64el-cross"
manual="mandoc zsh fish bsdextrautils" # bsdextrautils has the command col
package="dpkg-dev file"
all="$tests $report $check python3-venv python3-dev clang chromium qemu-user libbenchmark-dev"
all="$all ccache libbloom-dev $manual $package"
cross="$build bats jq python3 zstd xxd libsimde-dev qemu-user"
arm64="$cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross libjson-c-dev:arm64"
s390x="$cross gcc-s390x-linux-gnu libc6-dev-s390x-cross libjson-c-dev:s390x locales"
riscv64="$cross clang-16 gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"
fuzz="clang libclang-rt-14-dev llvm libsimde-dev bats jq python3 zstd"
bench="g++ libbenchmark-dev libleveldb-dev librocksdb-dev libbloom-dev jq git util-linux time"
bench="$bench golang-github-dcso-bloom-cli"
wasm="clang lld wasi-libc libclang-rt-14-dev-wasm32 chromium"
portable="$build g++ libleveldb-dev librocksdb-dev jq git"
portable_arm64="$portable g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
argp="gnulib autoconf automake make"
musl="cmake ninja-build gcc musl-tools libxxhash-dev libsimde-dev bats jq qemu-user"
zig_packages="python3-venv binutils binutils-aarch64-linux-gnu"
wheels="$zig_packages cmake ninja-build dpkg-dev libxxhash-dev python3-dev git musl"

packages=
zig=
foreign=
headers=
static=
for step in "$@"; do
  case $step in
    build) packages="$packages $build" ;;
    demo) packages="$packages $demo" ;;
    test) packages="$packages $tests" ;;
    test-all) packages="$packages $all" ;;
    arm64) packages="$packages $arm64" foreign="$foreign arm64" ;;
    s390x) packages="$packages $s390x" foreign="$foreign s390x" ;;
    riscv64) packages="$packages $riscv64" ;;
    portable) packages="$packages $portable" static="$static native" ;;
    portable-arm64)
      packages="$packages $portable_arm64" foreign="$foreign portable-arm64" static="$static arm64"
      ;;
    bench) packages="$packages $bench" ;;
    fuzz) packages="$packages $fuzz" ;;
    report) packages="$packages $report" ;;
    check) packages="$packages $check" ;;
    coverage) packages="$packages $coverage" ;;
    argp) packages="$packages $argp" ;;
    musl) packages="$packages $musl" ;;
    zig) zig=build/zig packages="$packages $zig_packages" ;;
    wheels) zig=build/zig packages="$packages $wheels" ;;
    duckdb) headers=build/duckdb/include; command -v npm >/dev/null || packages="$packages npm" ;;
    wasm)
      packages="$packages $wasm"
      command -v node >/dev/null || packages="$packages nodejs"
      command -v npm >/dev/null || packages="$packages npm"
      ;;
    -h | --help) usage; exit 0 ;;
    *) echo "setup.sh: expected a step, found '$step'" >&2; usage >&2; exit 2 ;;
  esac
done
if [ $# = 0 ]; then usage >&2; exit 2; fi

# Downloads the headers of DuckDB, which are in npm's package duckdb, to the folder in which CMake
# looks for them. The install scripts of the package do not run.
get_headers() {
  if [ -z "$headers" ] || [ -f "$headers/duckdb_extension.h" ]; then return; fi
  rm -rf "$headers.new"
  mkdir -p "$headers.new"
  (
    cd "$headers.new"
    "$root/scripts/download.sh" npm pack --silent --ignore-scripts duckdb@1.4.4 >/dev/null ||
      { echo "setup.sh: DuckDB's headers cannot be downloaded from npm's registry" >&2; exit 3; }
    tar -xzf duckdb-1.4.4.tgz --strip-components=5 package/src/duckdb/src/include/duckdb.h \
      package/src/duckdb/src/include/duckdb_extension.h
    rm duckdb-1.4.4.tgz
  )
  mv "$headers.new" "$headers"
}

# Installs the compiler zig in a virtual environment of Python.
get_zig() {
  if [ -z "$zig" ] || [ -x "$zig/zig" ]; then return; fi
  rm -rf "$zig"
  python3 -m venv "$zig"
  "$root/scripts/download.sh" "$zig/bin/pip" install --quiet --disable-pip-version-check \
    ziglang==0.17.1 ||
    { echo "setup.sh: the compiler zig cannot be downloaded from PyPI" >&2; exit 3; }
  (cd "$zig" && ln -s lib/python3*/site-packages/ziglang/zig zig)
}

# Finds the packages that are not installed. A package must be installed for the architecture that
# its name gives, or otherwise for this machine's architecture. Lists of packages are split at
# spaces on purpose.
# shellcheck disable=SC2086
missing=$(for package in $(printf '%s\n' $packages | sort -u); do
  case $package in
    *:*) architecture=${package#*:} ;;
    *) architecture="$(dpkg --print-architecture 2>/dev/null)|all" ;;
  esac
  dpkg-query -W -f '${Architecture} ${Status}\n' "$package" 2>/dev/null |
    grep -qxE "($architecture) install ok installed" || printf ' %s' "$package"
done)
# Some development packages cannot be installed for two architectures at once, and others would
# replace packages of this machine. So development packages of foreign architectures are not
# installed, but unpacked into build/foreign/.
to_unpack=
for architecture in $foreign; do
  [ -f "build/foreign/$architecture/usr/include/zlib.h" ] || to_unpack="$to_unpack $architecture"
done
build_static_libraries() {
  for architecture in $static; do scripts/static-libraries.sh "$architecture"; done
}
if [ -z "$missing$to_unpack" ]; then
  get_headers
  get_zig
  build_static_libraries
  exit 0
fi
if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  as_root=none
fi
if ! command -v apt-get >/dev/null || [ "$as_root" = none ]; then
  echo "setup.sh: install these packages (named as in Debian 12):$missing" >&2
  exit 3
fi
[ -z "$missing" ] || echo "Installing$missing" >&2

# Every mirror of Debian has all architectures. Mirrors of other systems may lack the foreign
# architecture, and each update by apt would then fail. So a foreign architecture is added only on
# Debian, and removed at the end of this script.
added=
# Removes the architectures that this script added, unless packages of them are installed.
take_back() {
  for architecture in $added; do
    $as_root dpkg --remove-architecture "$architecture" 2>/dev/null || true
  done
}
trap take_back EXIT
trap 'exit 1' INT TERM
for architecture in $foreign; do
  architecture=${architecture#portable-}
  dpkg --print-foreign-architectures | grep -qx "$architecture" && continue
  grep -qx 'ID=debian' /etc/os-release ||
    { echo "setup.sh: $architecture: expected Debian, found another system" >&2; exit 3; }
  $as_root dpkg --add-architecture "$architecture"
  added="$added $architecture"
done
no_packages() {
  echo "setup.sh: Debian's packages cannot be downloaded" >&2
  exit 3
}
end=${DOWNLOAD_UNTIL:-$(($(date +%s) + 1200))} # 20 minutes for hundreds of packages
download="$as_root env DOWNLOAD_UNTIL=$end scripts/download.sh"
# shellcheck disable=SC2086
$download apt-get update -qq || no_packages
# shellcheck disable=SC2086
$download \
  apt-get install -y -qq --no-install-recommends --download-only $missing >/dev/null || no_packages
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends $missing >/dev/null

for step in $to_unpack; do
  folder=build/foreign/$step
  architecture=${step#portable-}
  unpacked=zlib1g-dev
  [ "$step" = "$architecture" ] || unpacked="$unpacked libleveldb-dev librocksdb-dev libsnappy-dev
    libbz2-dev libzstd-dev liblz4-dev"
  rm -rf "$folder.new"
  mkdir -p "$folder.new"
  (
    cd "$folder.new"
    for package in $unpacked; do
      "$root/scripts/download.sh" apt-get download -qq "$package:$architecture" 2>/dev/null ||
        no_packages
    done
    for package in *.deb; do dpkg -x "$package" .; done
  )
  mv "$folder.new" "$folder"
done
get_headers
get_zig
build_static_libraries
