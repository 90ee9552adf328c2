#!/usr/bin/env bash
# Builds target/quick/castellan. Maven spends most of its time waiting for downloads, so the
# broker's jar is built at the same time, and Kafka is fetched after it: kafka/build.rs and
# fetch-kafka.sh wait for the process that builds the jar. The one job more than there are
# processors is kafka/build.rs, which only waits.
set -uo pipefail
cd "$(dirname "$0")/.."

${MAKE:-make} --no-print-directory broker-jar/target/castellan-broker.jar &
export CASTELLAN_JAR_BUILDER=$!
scripts/beside.sh 19 scripts/fetch-kafka.sh \
    ${CARGO:-cargo} build --profile quick --locked --bin castellan --jobs $(($(nproc) + 1))
