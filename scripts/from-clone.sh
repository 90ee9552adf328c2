#!/usr/bin/env bash
# How long it takes from a clone of this tree to its first cluster: `make run` with nothing
# fetched or built before, in a home of its own. Debian's packages and Rust are there already.
#
#   scripts/from-clone.sh           # prints the time, and removes all of it
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(mktemp -d)
tree=$(pwd)
# Instances have uids of their own, if root runs this: they have to come through.
chmod o+x "$place"
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
export HOME=$place/home CARGO_HOME=$place/home/.cargo XDG_CACHE_HOME=$place/home/.cache
export MAVEN_OPTS="-Duser.home=$place/home"
unset CARGO_TARGET_DIR
mkdir -p "$HOME"
run=
clean_up() {
    [ -n "$run" ] && kill -INT -- "-$run" 2>/dev/null && wait "$run" 2>/dev/null
    [ -d "$place/data" ] && "$place/clone/target/quick/castellan" down --data "$place/data" --purge --yes
    rm -rf "$place"
}
trap clean_up EXIT

began=$SECONDS
git clone -q "$tree" "$place/clone"
# A session of its own, so that its end reaches all of it.
setsid make -C "$place/clone" run ARGS="--data $place/data" >"$place/log" 2>&1 &
run=$!
until grep -q 'Try it' "$place/log"; do
    kill -0 "$run" 2>/dev/null || { cat "$place/log"; exit 1; }
    sleep 0.5
done
echo "from the clone to the first cluster: $((SECONDS - began)) s"
grep -E '✓|Finished' "$place/log"
# What rehearsals of the pool's JVMs took, once all of them wait.
host() { "$place/clone/target/quick/castellan" host --data "$place/data"; }
until host | grep -Eq 'warm JVMs +([0-9]+) of \1 '; do
    kill -0 "$run" 2>/dev/null || { cat "$place/log"; exit 1; }
    sleep 0.5
done
host
for process in /proc/[0-9]*; do
    # The mark of a warm JVM, and its processor time in hundredths of a second.
    if tr '\0' '\n' 2>/dev/null <"$process/environ" | grep -q '^CASTELLAN_SUCCESSOR='; then
        cut -d ' ' -f 14,15 "$process/stat" |
            awk '{ printf "a warm JVM: %.1f s of processor time\n", ($1 + $2) / 100 }'
    fi
done
