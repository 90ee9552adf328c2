#!/usr/bin/env bash
# The long tests, in named parts of at most 40 minutes each on two cores:
#
#   scripts/test-all.sh                 # all of them
#   scripts/test-all.sh rolls alarms    # some
#
# Every part runs, whatever fails; the end says what failed and how long each took.
set -uo pipefail
cd "$(dirname "$0")/.."
export CASTELLAN_TEST_ALL=1

parts=(units simulation kafka releases postgres planes tour rolls broker-rolls fifty-rolls
    fifty-more alarms oldest certificates disks networks overload pool resizes
    unlucky-resizes fuzz otel)

# Always the whole workspace, so that dependencies are built once.
check() { ${CARGO:-cargo} test --workspace --locked --no-fail-fast "$@" || outcome=FAILED; }

units() {
    check --lib --bins --test addresses --test agent_documents --test billing --test calls \
        --test channels --test client_certificates --test deliveries --test edges --test faults \
        --test holdings --test intakes --test it --test lines --test log --test moto \
        --test moves --test people --test process --test properties --test refusals \
        --test requests --test rotations --test rsyslog \
        --test separate --test servers --test simulated --test smtp --test stepped_clock \
        -- --skip fuzz::
    check --doc
}
simulation() { check --test engine; }
kafka() { check --test client --test conformance --test start --test warm; }
releases() { check --test releases; }
postgres() { CASTELLAN_TEST_DATABASE=postgres check --test it -- --skip fuzz::; }
planes() { check --test two_planes --test restore; }
tour() { check --test tour -- --skip unlucky:: --skip hundred:: --skip fault_table --skip oldest; }
rolls() {
    check --test tour -- unlucky::control_plane
    check --test tour -- unlucky::agents
}
broker-rolls() {
    check --test tour -- unlucky::brokers
    check --test tour -- unlucky::disks
}
fifty-rolls() { check --test tour -- hundred::rolls_1_to_50; }
fifty-more() { check --test tour -- hundred::rolls_51_to_100; }
alarms() { check --test tour -- fault_table; }
oldest() { check --test tour -- oldest; }
certificates() { check --test certificates; }
disks() { check --test lost_disks; }
networks() { check --test real --test vpcs --test namespaces; }
overload() { check --test overload; }
pool() { check --test pool; }
resizes() { check --test resizes -- grows_and_shrinks single:: terraform::; }
unlucky-resizes() { check --test resizes -- unlucky:: full::; }
fuzz() {
    check --test fuzz
    check --test it -- fuzz::
}
otel() { scripts/setup.sh otel && check --test otlp || outcome=FAILED; }

[ $# -eq 0 ] && set -- "${parts[@]}"
for part in "$@"; do
    if [[ " ${parts[*]} " != *" $part "* ]]; then
        echo "there is no part $part; these are: ${parts[*]}" >&2
        exit 2
    fi
done

result=0
summary=
for part in "$@"; do
    echo "== $part"
    began=$SECONDS
    outcome=ok
    "$part"
    [ $outcome = ok ] || result=1
    summary+=$(printf '%-14s %-6s %4d s' "$part" "$outcome" $((SECONDS - began)))$'\n'
done
printf '\n%s' "$summary"
exit $result
