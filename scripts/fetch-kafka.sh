#!/usr/bin/env bash
# Has Maven fetch the newest Kafka's jars into its own repository, so that the first
# cluster need not wait for them. A failure does no harm: `castellan up` fetches what is
# missing, and says why it can't.
set -uo pipefail
cd "$(dirname "$0")/.."

# Maven takes what it needs for that from the broker's jar.
[ -n "${CASTELLAN_JAR_BUILDER:-}" ] && tail --pid="$CASTELLAN_JAR_BUILDER" -f /dev/null

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cp kafka/artifacts/pom.xml "$directory"
mvn -q -B -f "$directory" validate -Dcastellan.libs=libs \
    -Dmaven.ext.class.path="$PWD/broker-jar/target/castellan-broker.jar" >/dev/null 2>&1
exit 0
