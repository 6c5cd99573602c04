# Runs the command with system calls that fail or end it, by means of tests/cli/interpose/.
# SPDX-License-Identifier: MIT

needs_interposing() {
  [[ -n ${INTERPOSE-} ]] ||
    skip "calls of a sanitizer's binary, or another CPU's, cannot be made to fail"
}

make_target() { # COMMAND
  if [[ $1 == add ]]; then cp filter target; else echo old >target; fi
}

# run_with FAULT COMMAND...: runs the command once with this fault. Sets `status` and `errors`, and
# writes the files out and err. The file `reached` is empty unless the fault was reached.
run_with() {
  local fault=$1
  shift
  make_target "$1"
  : >reached
  status=0
  LD_PRELOAD=$INTERPOSE LANEBLOOM_FAULT=$fault LANEBLOOM_FAULT_MARK=reached "$LANEBLOOM" "$@" \
    >out 2>err || status=$?
  read -r -d '' errors <err || true
}

# serve FUNCTION HOW FIRST STEP COMMAND...: lets server.c run the command once for each fault. Adds
# to nfaults and nrefused, or to nkills and nwhole, or sets ncalls.
serve() {
  local faults="${*:1:4}" counts
  shift 4
  : >out >err
  make_target "$1"
  counts=$(LD_PRELOAD=$INTERPOSE LANEBLOOM_FAULTS=$faults "$LANEBLOOM" "$@") ||
    { echo "$*"; ls -A; head -c 500 out err; return 1; }
  ((1 + ($counts)))
}

# Runs the command once without a fault, and stores the results in a folder.
make_normal() { # COMMAND...
  export LANEBLOOM_FAULT_NORMAL="../normal/${*//\//}"
  [[ ! -d $LANEBLOOM_FAULT_NORMAL ]] || return 0
  run_with "none 1 fail" "$@"
  mkdir -p "$LANEBLOOM_FAULT_NORMAL"
  echo "$status" >"$LANEBLOOM_FAULT_NORMAL/status"
  mv out err target "$LANEBLOOM_FAULT_NORMAL"
}
