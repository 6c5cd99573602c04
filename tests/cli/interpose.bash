# Runs of the command whose calls of the system fail, or end it: tests/interpose/ makes them.
# SPDX-License-Identifier: MIT

needs_interposing() {
  [[ -n ${INTERPOSE-} ]] ||
    skip "calls of a sanitizer's binary, or another CPU's, cannot be made to fail"
}

make_target() { # COMMAND
  if [[ $1 == add ]]; then cp filter target; else echo old >target; fi
}

# run_with FAULT COMMAND...: one run. Fills in `status`, `errors`, out and err; `reached` has a byte
# if it came to the fault.
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

# serve FUNCTION HOW FIRST STEP COMMAND...: runs of which each has one fault, as server.c has them.
# Adds to nfaults and nrefused; or to nkills and nwhole; or sets ncalls.
serve() {
  local faults="${*:1:4}" counts
  shift 4
  : >out >err
  make_target "$1"
  counts=$(LD_PRELOAD=$INTERPOSE LANEBLOOM_FAULTS=$faults "$LANEBLOOM" "$@") ||
    { echo "$*"; ls -A; head -c 500 out err; return 1; }
  ((1 + ($counts)))
}

# What the command does without a fault: it is run once.
make_normal() { # COMMAND...
  export LANEBLOOM_FAULT_NORMAL="../normal/${*//\//}"
  [[ ! -d $LANEBLOOM_FAULT_NORMAL ]] || return 0
  run_with "none 1 fail" "$@"
  mkdir -p "$LANEBLOOM_FAULT_NORMAL"
  echo "$status" >"$LANEBLOOM_FAULT_NORMAL/status"
  mv out err target "$LANEBLOOM_FAULT_NORMAL"
}
