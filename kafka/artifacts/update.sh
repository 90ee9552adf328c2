#!/bin/sh
# Writes the SHA-256 sums of every jar of a Kafka release, as Maven gives them:
#
#   kafka/artifacts/update.sh 4.3.1 org.apache.logging.log4j:log4j-slf4j-impl:2.25.4
#
# The second argument is the log binding that kafka/src/versions.rs names for the
# release. It takes the broker jar (`make jar`). Run it when a release is added, on a machine whose Maven settings you
# trust, and review the difference: the sums are what later downloads must match.
set -eu
version=$1
binding=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/pom.xml" "$work/pom.xml"
(
    cd "$work"
    mvn -q -B validate -Dmaven.ext.class.path="$here/../../broker-jar/target/castellan-broker.jar" \
        -Dcastellan.libs=libs -Dkafka.version="$version" \
        -Dbinding.group="${binding%%:*}" -Dbinding.artifact="$(echo "$binding" | cut -d: -f2)" \
        -Dbinding.version="${binding##*:}"
    cd libs
    LC_ALL=C sha256sum ./*.jar | sed 's|\./||' >"$work/sums"
)
mv "$work/sums" "$here/$version.sha256"
