#!/usr/bin/env bash
# Has the tools there that building and running (`run`), building tests (`build`), testing
# (`test`) or the long test of a collector of OpenTelemetry (`otel`) needs. Installs Debian
# packages where it may, else says what to install.
set -euo pipefail

purpose=${1:-run}
missing=()

# The newest JDK that this system's packages offer.
jdk_package() {
    local major
    for major in 25 21 17; do
        if apt-cache policy "openjdk-$major-jdk-headless" 2>/dev/null | grep -q 'Candidate: [0-9]'; then
            echo "openjdk-$major-jdk-headless"
            return
        fi
    done
    echo openjdk-17-jdk-headless
}

need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }

need cc gcc
need mvn maven
command -v javac >/dev/null 2>&1 || missing+=(jdk)
if [ "$purpose" != run ]; then
    need kcat kcat
    need openssl openssl
    need ss iproute2
    # The checker's librdkafka is built from source.
    need g++ g++
    need make make
    need pkg-config pkg-config
    pkg-config --exists openssl 2>/dev/null || missing+=(libssl-dev)
    python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing+=(python3-venv)
    # Debian keeps the server off the PATH.
    ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need initdb postgresql
    ls /usr/sbin/rsyslogd >/dev/null 2>&1 || need rsyslogd rsyslog
    ls /usr/lib/*/rsyslog/lmnsd_ossl.so >/dev/null 2>&1 || missing+=(rsyslog-openssl)
fi
if [ "$purpose" = otel ]; then
    need go golang-go
fi

if ! command -v cargo >/dev/null 2>&1; then
    echo "castellan: Rust is missing; install Rust 1.95 or newer with rustup, then run this again" >&2
    exit 1
fi

install_missing() {
    [ ${#missing[@]} -eq 0 ] && return

    if ! command -v apt-get >/dev/null 2>&1; then
        echo "castellan: please install: ${missing[*]}" >&2
        exit 1
    fi

    local packages as_root=()
    packages=("${missing[@]/#jdk/$(jdk_package)}")
    if [ "$(id -u)" -ne 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            echo "castellan: please install: sudo apt-get install ${packages[*]}" >&2
            exit 1
        fi
        as_root=(sudo -n)
    fi

    echo "castellan: installing ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq "${packages[@]}" >/dev/null
}

# Python programs that tests use, each with what it needs in an environment of
# its own. Kept beside what is built, and made anew when the list has changed.
install_python() {
    local name=$1 wanted=$2
    local place=${CARGO_TARGET_DIR:-target}/$name
    cmp -s "$wanted" "$place/requirements.txt" && return
    echo "castellan: installing $name"
    python3 -m venv --clear "$place"
    "$place/bin/pip" install -q --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$place/requirements.txt"
}

# A collector of the project's own modules, whose sums are in go.sum.
build_collector() {
    local place=${CARGO_TARGET_DIR:-target}/otel
    mkdir -p "$place"
    place=$(cd "$place" && pwd)
    echo "castellan: building a collector of OpenTelemetry"
    if ! (cd test-support/scripts/otel && go build -trimpath -o "$place/collector" .); then
        echo "castellan: the collector can't be built; it takes Go 1.21 or newer and a Go proxy" >&2
        exit 1
    fi
}

install_missing
cd "$(dirname "$0")/.."
if [ "$purpose" = otel ]; then
    build_collector
fi
if [ "$purpose" = test ]; then
    # Tries the API as its document describes it.
    install_python schemathesis server/tests/fuzz/requirements.txt
    # A client to hold our answers against.
    install_python witness test-support/scripts/witness/requirements.txt
    # A mail server to send to.
    install_python aiosmtpd test-support/scripts/mail/requirements.txt
    # Amazon's services to send to.
    install_python moto test-support/scripts/aws/requirements.txt
fi
