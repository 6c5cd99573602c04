# Kills of build, add, merge and screen -o: the target is absent, the old file or the whole new
# one, at every moment.
# $LANEBLOOM_KILLS: how many at random moments, if set.
# SPDX-License-Identifier: MIT
load helper

# The file is large, so that writing it is most of what the command does.
write_new() {
  case $verb in
    build) exec "$LANEBLOOM" build -o folder/target --expected 6000000 keys ;;
    add) exec "$LANEBLOOM" add folder/target more ;;
    screen) exec "$LANEBLOOM" screen -o folder/target old input ;;
    merge) exec "$LANEBLOOM" merge -o folder/target half other ;;
  esac
}

# make_files VERB: whose target is killed.
make_files() {
  verb=$1
  numbers 1 10000 >keys
  mkdir folder
  lanebloom build -o old keys
  if [[ $verb == add ]]; then
    numbers 20001 30000 >more
    lanebloom build -o old --expected 6000000 keys
    cp old folder/target
  fi
  [[ $verb != screen ]] || numbers 1 500000 | cat - keys{,,,,,,,,,} >input
  if [[ $verb == merge ]]; then
    head -n 5000 keys | lanebloom build -o half --expected 6000000
    tail -n 5000 keys | lanebloom build -o other --expected 6000000
  fi
  (write_new)
  mv folder/target new
}

# What is there now: absent, old or whole; fails if it is anything else.
state_of_target() {
  [[ -e folder/target ]] || { echo absent; return; }
  if cmp -s folder/target old; then
    echo old
  elif cmp -s folder/target new; then
    echo whole
  else
    echo "neither old nor whole: $(stat -c %s folder/target) bytes"
  fi
}

kill_at_random_moments() { # VERB
  local nkills=25 window=50000 random state temporaries=0
  # under the thread sanitizer, which slows every start, kills find nothing of its own
  ! exhaustive || [[ ${SANITIZERS-} == *thread* ]] || nkills=200
  nkills=${LANEBLOOM_KILLS:-$nkills}
  local -A count=([absent]=0 [old]=0 [whole]=0)
  trap - DEBUG # by which bats follows each command
  make_files "$1"
  mkfifo never
  exec 9<>never
  for ((i = 0; i < nkills; i++)); do
    rm -rf folder
    mkdir folder
    [[ $((i % 4)) -eq 0 && $verb != add ]] || cp old folder/target # else there is none
    write_new &
    random=$((SRANDOM % window)) # microseconds
    read -r -t $((random / 1000000)).$(printf %06d $((random % 1000000))) -u 9 || true
    kill -KILL $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    state=$(state_of_target)
    [[ -n ${count[$state]} ]] || { echo "kill $i: $state"; return 1; }
    [[ $state != absent || $((i % 4)) -eq 0 ]] ||
      { echo "kill $i: the old file is gone"; return 1; }
    count[$state]=$((count[$state] + 1))
    if [[ $state == whole ]]; then # one kill in four is to come too late
      window=$((window * 3 / 4 + 1))
    elif [[ ${count[whole]} -eq 0 ]]; then
      window=$((window * 2))
    else
      window=$((window * 11 / 10))
    fi
    [[ $(ls -A folder | grep -vc '^target$') -eq 0 ]] || temporaries=$((temporaries + 1))
  done
  echo "# $nkills kills of $verb: target absent ${count[absent]}, old ${count[old]}," \
    "whole ${count[whole]} times; a temporary file beside it $temporaries times" >&3
  # they were spread over the runs
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

# Before and after every call that changes something.
kill_at_each() { # FUNCTION
  local how n state
  for how in kill killed; do
    for ((n = 1;; n++)); do
      rm -rf folder reached
      mkdir folder
      cp old folder/target
      (LD_PRELOAD=$INTERPOSE LANEBLOOM_FAULT="$1 $n $how" LANEBLOOM_FAULT_MARK=reached write_new) \
        2>/dev/null || true
      [[ -e reached ]] || break
      state=$(state_of_target)
      [[ $state == old || $state == whole ]] || { echo "$1 $n $how: $state"; return 1; }
      [[ $verb != add ]] || cp old folder/target
      (write_new) # over what was left
      cmp folder/target new
      count[$state]=$((count[$state] + 1))
    done
  done
}

kill_at_every_call() { # VERB
  [[ -n ${INTERPOSE-} ]] ||
    skip "calls of a sanitizer's binary, or another CPU's, cannot be made to fail"
  local -A count=([old]=0 [whole]=0)
  trap - DEBUG
  make_files "$1"
  for function in openat write fsync linkat renameat close; do
    kill_at_each $function
  done
  export LANEBLOOM_FAULT_NAMED=1 # a file system that cannot make files without a name
  for function in openat write fsync renameat close; do
    kill_at_each $function
  done
  echo "# kills of $verb at each call: target old ${count[old]}, whole ${count[whole]} times" >&3
  [[ ${count[old]} -gt 20 && ${count[whole]} -gt 5 ]]
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
