#!/usr/bin/env bash
# Licences, bans and sources of dependencies (deny.toml), and advisories where their database can
# be reached. Dependencies that nothing uses fail in server/tests/edges.rs.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}

command -v cargo-deny >/dev/null 2>&1 || $cargo install --locked --quiet cargo-deny
$cargo deny --locked check bans licenses sources

# A network that drops what it does not let through would hold this up for minutes.
database=https://github.com/rustsec/advisory-db
if ! timeout 20 git ls-remote --quiet --exit-code "$database" HEAD >/dev/null 2>&1; then
    echo "advisories: not checked, their database can't be reached" >&2
    exit 0
fi
$cargo deny --locked check advisories
