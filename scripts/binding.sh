# shellcheck shell=sh disable=SC2034 # variables are for the script that sources this one
# python.sh and duckdb.sh source this file, which contains what both of them need. The arguments of
# both scripts are [--all] [TAP].
# SPDX-License-Identifier: MIT
binding=$(basename "$0" .sh)
cd "$(dirname "$0")/.." || exit
all=
[ "${1-}" != --all ] || { all=1; shift; }
tap=${1-build/$binding/tests.tap}
folder=$PWD/build/$binding
tests=$PWD/bindings/$binding/tests
python=$folder/venv/bin/python
seconds=300
[ -z "$all" ] || seconds=1800
DOWNLOAD_UNTIL=$(($(date +%s) + seconds))
export DOWNLOAD_UNTIL
export PYTHONDONTWRITEBYTECODE=1 # write no files into the working tree
for preset in release dev; do
  databases=$PWD/build/$preset/tests/test_databases
  [ ! -x "$databases" ] || export DATABASES="$databases"
done

mkdir -p "$folder" "$(dirname "$tap")"
tap=$(realpath "$tap")
: >"$tap"

skip() { # REASON
  echo "$binding: skipped: $1" >&2
  echo "ok - $binding # skip $1" >>"$tap"
  exit 0
}

fail() { # WHAT LOG
  cat "$2" >&2
  echo "not ok - $1" >>"$tap"
  exit 1
}

why() { # LOG: prints its last line
  grep -v '^$' "$1" | tail -n 1
}

# Makes the virtual environment. Without --all, a complete environment is reused in the next run.
# Its file `ready' lists the packages that the environment was made of. If other packages are
# needed, the environment is made again.
make_environment() { # PACKAGE...
  ready=$folder/venv/ready
  made_of="$(python3 -VV 2>&1) $*"
  [ -n "$all" ] || [ "$(cat "$ready" 2>/dev/null)" != "$made_of" ] || return 0
  rm -rf "$folder/venv"
  python3 -m venv "$folder/venv" >"$folder/venv.log" 2>&1 ||
    skip "no virtual environment: $(tail -n 1 "$folder/venv.log")"
  scripts/download.sh "$python" -m pip install -q "$@" >"$folder/pip.log" 2>&1 ||
    skip "packages cannot be downloaded: $(why "$folder/pip.log")"
  [ -n "$all" ] || echo "$made_of" >"$ready"
}
