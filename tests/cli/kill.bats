# Kills of build, add, merge and screen -o. At every moment the target is absent, the old file or
# the complete new one. $LANEBLOOM_KILLS sets the number of kills at random moments.
# SPDX-License-Identifier: MIT
load helper
load interpose

# make_files VERB NKEYS: sets `command`, which a test kills while it writes `target`. The filters
# have room for NKEYS keys. The input of screen is proportional to NKEYS.
make_files() {
  verb=$1
  numbers 1 10000 >keys
  lanebloom build -o filter keys
  case $verb in
    build) command=(build --force -o target --expected "$2" keys) ;;
    add)
      numbers 20001 30000 >more
      lanebloom build -o filter --expected "$2" keys
      command=(add target more)
      ;;
    screen) # the output for each input is written at once
      head -n $(($2 / 500)) keys >input
      command=(screen -o target filter input{,,,,,}{,,,,,})
      ;;
    merge)
      head -n 5000 keys | lanebloom build -o half --expected "$2"
      tail -n 5000 keys | lanebloom build -o other --expected "$2"
      command=(merge --force -o target half other)
      ;;
  esac
}

# Sets `state` to absent, old or whole, or to a description of any other target.
state_of_target() {
  if [[ ! -e target ]]; then
    state=absent
  elif cmp -s target old; then
    state=old
  elif cmp -s target new; then
    state=whole
  else
    state="neither old nor whole: $(stat -c %s target) bytes"
  fi
}

kill_at_random_moments() { # VERB
  local nkills=25 window=50000 random state=absent temporaries=0 may_be_absent
  # The thread sanitizer makes every start slow, and kills do not show it anything new.
  ! exhaustive || [[ ${SANITIZERS-} == *thread* ]] || nkills=200
  nkills=${LANEBLOOM_KILLS:-$nkills}
  local -A count=([absent]=0 [old]=0 [whole]=0)
  trap - DEBUG # this trap, by which bats traces each command, is slow
  make_files "$1" 6000000 # so many that the command mostly writes
  make_target "$verb"
  cp target old
  lanebloom "${command[@]}"
  mv target new
  mkfifo never
  exec 9<>never
  for ((i = 0; i < nkills; i++)); do
    may_be_absent=
    [[ $((i % 4)) -ne 0 || $verb == add ]] || may_be_absent=yes
    if [[ -n $may_be_absent ]]; then
      rm -f target
    elif [[ $state != old ]]; then
      cp old target
    fi
    "$LANEBLOOM" "${command[@]}" &
    random=$((SRANDOM % window)) # in microseconds
    read -r -t $((random / 1000000)).$(printf %06d $((random % 1000000))) -u 9 || true
    kill -KILL $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    state_of_target
    [[ -n ${count[$state]} ]] || { echo "kill $i: $state"; return 1; }
    [[ $state != absent || -n $may_be_absent ]] ||
      { echo "kill $i: the old file is gone"; return 1; }
    count[$state]=$((count[$state] + 1))
    if [[ $state == whole ]]; then # shortens the window until one kill in four comes too late
      window=$((window * 3 / 4 + 1))
    elif [[ ${count[whole]} -eq 0 ]]; then
      window=$((window * 2))
    else
      window=$((window * 11 / 10))
    fi
    if compgen -G '.lanebloom-*' >/dev/null; then
      temporaries=$((temporaries + 1))
      rm .lanebloom-*
    fi
  done
  echo "# $nkills kills of $verb: target absent ${count[absent]}, old ${count[old]}," \
    "whole ${count[whole]} times; a temporary file beside it $temporaries times" >&3
  # Some kills came before the end of the run, and some after it.
  [[ $((count[absent] + count[old])) -gt 0 && ${count[whole]} -gt 0 ]]
}

@test "kills of build at random moments" {
  kill_at_random_moments build
}

@test "kills of add at random moments" {
  kill_at_random_moments add
}

@test "kills of merge at random moments" {
  kill_at_random_moments merge
}

@test "kills of screen -o at random moments" {
  kill_at_random_moments screen
}

# Kills the command before and after every call that changes a file. The next run, over what was
# left, must succeed.
kill_at_every_call() { # VERB
  needs_interposing
  local nkills=0 nwhole=0
  make_files "$1" 20000
  make_normal "${command[@]}"
  for function in openat write fsync linkat renameat close; do
    serve $function kill 1 1 "${command[@]}"
    serve $function killed 1 1 "${command[@]}"
  done
  export LANEBLOOM_FAULT_NAMED=1 # a file system without nameless files
  for function in openat write fsync renameat close; do
    serve $function kill 1 1 "${command[@]}"
    serve $function killed 1 1 "${command[@]}"
  done
  echo "# kills of $verb at each call: target old $((nkills - nwhole)), whole $nwhole times" >&3
  [[ $((nkills - nwhole)) -gt 20 && $nwhole -gt 5 ]]
}

@test "kills of build before and after each call" {
  kill_at_every_call build
}

@test "kills of add before and after each call" {
  kill_at_every_call add
}

@test "kills of merge before and after each call" {
  kill_at_every_call merge
}

@test "kills of screen -o before and after each call" {
  kill_at_every_call screen
}

@test "outputs take their places in order, the summary last" {
  needs_interposing
  make_files screen 20000
  local files=(target rest summary) whole nwhole
  for n in 1 2 3; do
    for how in kill killed; do
      echo old | tee rest >summary
      run_with "renameat $n $how" "${command[@]}" --unmatched rest --summary --summary-file summary
      [[ $status -eq 137 && -s reached ]]
      nwhole=$n
      [[ $how == killed ]] || nwhole=$((n - 1))
      whole=()
      for file in "${files[@]}"; do
        [[ $(<"$file") == old ]] || whole+=("$file")
      done
      [[ ${whole[*]} == "${files[*]::nwhole}" ]] ||
        { echo "renameat $n $how: ${whole[*]}"; false; }
    done
  done
}

# A new target is made without a temporary name.
@test "a kill leaves nothing beside a new target" {
  needs_interposing
  make_files screen 20000
  for how in kill killed; do
    run_with "linkat 1 $how" screen -o new filter keys
    [[ $status -eq 137 && -s reached && -z $(compgen -G '.lanebloom-*') ]]
    [[ $how == killed || ! -e new ]]
  done
  cmp new keys
}
