#!/usr/bin/env bash
# Runs a command, and beside it a patient one, which gets what the first leaves of the
# processors: `beside.sh <nice> 'patient command' command...`, where 19 leaves it the least.
# What the patient one says comes at the end. Fails if either does.
set -uo pipefail

nice=$1
patient=$2
shift 2
said=$(mktemp)

# Its own session: where the kernel shares the processors out among sessions, being
# nice within ours would give way to nobody else. Its pid names all of it, too.
setsid bash -c "echo $nice 2>/dev/null >/proc/self/autogroup; exec nice -n $nice $patient" \
    >"$said" 2>&1 &
pid=$!
trap 'kill -- -"$pid" 2>/dev/null; cat "$said"; rm -f "$said"' EXIT

"$@"
result=$?
wait "$pid"
patient_result=$?
[ "$result" -eq 0 ] && [ "$patient_result" -eq 0 ]
