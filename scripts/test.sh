#!/usr/bin/env bash
# What `make test` runs once everything is built, or one lane of it:
#
#   scripts/test.sh             # all three side by side
#   scripts/test.sh clusters    # real Kafka, one test at a time, which waits half of its time
#   scripts/test.sh plain       # what needs no Kafka, with what that leaves of the processors
#   scripts/test.sh simulations # these go by a clock of their own, and get what is left then
set -uo pipefail
cd "$(dirname "$0")/.."

of_clusters=(certificates client lost_disks namespaces overload pool releases resizes start tour warm)
# What takes minutes on clusters of its own is left to `test-all`: the life of certificates,
# lost disks, a start of each release, a machine with too little of everything, the pool of
# warm JVMs, all but one change of servers, one of them in a network of its own, what the simulated cluster is held against, a collector
# of OpenTelemetry, which has to be built, and schemathesis on a ready cluster, which tells a busy
# machine from a fault no better than by time.
long=(a_cluster_outlives_its_certificates a_lost_disk_is_held_and_never_formatted
    releases_start_log_and_serve_metrics no_broker_is_fenced_that_is_there
    a_cluster_starts_in_the_hosts_warm_jvms kafka_does_what_the_simulated_cluster_does
    grows_and_shrinks_under_load of_the_oldest_release_grows_and_shrinks
    topics_keep_one_replica_if runs_full_while_replicas_move bad_luck_loses_nothing
    cancelled_and_an_instance_deleted_in_the_middle
    a_cluster_grows_and_rolls_in_its_network
    a_collector_writes_what_it_was_sent
    schemathesis_finds_nothing_in_a_cluster_that_is_ready)

# Always the whole workspace, so that dependencies are built once.
check() { ${CARGO:-cargo} test --workspace --locked --no-fail-fast "$@"; }

# Every file of tests that is not in the first list.
others() {
    local file name
    for file in */tests/*.rs */tests/*/main.rs; do
        name=$(basename "${file%/main.rs}" .rs)
        [[ " ${of_clusters[*]} " == *" $name "* ]] || echo "--test=$name"
    done | sort -u
}

clusters() { check "${of_clusters[@]/#/--test=}" -- "${long[@]/#/--skip=}"; }
plain() {
    local result=0
    # shellcheck disable=SC2046
    check --lib --bins --test log $(others) -- --skip simulation:: "${long[@]/#/--skip=}" || result=1
    check --doc || result=1
    return $result
}
simulations() { check --test engine -- simulation::; }

case ${1-} in
    clusters | plain | simulations) "$1" ;;
    '')
        exec scripts/beside.sh 19 'scripts/test.sh simulations' \
            scripts/beside.sh 5 'scripts/test.sh plain' scripts/test.sh clusters
        ;;
    *)
        echo "there is no lane $1; these are: clusters plain simulations" >&2
        exit 2
        ;;
esac
