#!/bin/sh
# Runs a PostgreSQL of its own in directory $2 with the programs in $1, until
# standard input ends: with the test process, however that ends. Says "ready"
# once it answers on its socket in that directory, and leaves nothing behind.
# The lines "stop" and "start" on standard input do that in between.
set -eu
programs=$1
directory=$2

# Ctrl-C reaches the whole group; the test process ends by it, and then we do.
trap '' INT HUP
trap 'rm -rf "$directory"' EXIT

as=
if [ "$(id -u)" -eq 0 ]; then
    # PostgreSQL refuses to run as root.
    user=postgres
    id -u "$user" >/dev/null 2>&1 || user=nobody
    chown "$user" "$directory"
    as="setpriv --reuid=$user --regid=$(id -g "$user") --clear-groups"
fi
cd "$directory"

printf 'secret' >password
$as "$programs/initdb" --pgdata data --username castellan --pwfile password --auth scram-sha-256 \
    --encoding UTF8 --locale C --no-sync >log 2>&1 || { cat log; exit 1; }
start() {
    $as "$programs/postgres" -D data -k "$directory" -c listen_addresses= -c max_connections=300 \
        -c fsync=off -c full_page_writes=off -c synchronous_commit=off >>log 2>&1 &
    server=$!
    until "$programs/pg_isready" -q -h "$directory"; do
        kill -0 "$server" 2>/dev/null || { cat log; exit 1; }
        sleep 0.05
    done
    echo ready
}
start

while read -r command; do
    case $command in
    stop)
        # Turns every client out at once.
        kill -INT "$server"
        wait "$server" || true
        echo stopped
        ;;
    start) start ;;
    esac
done
kill -QUIT "$server" 2>/dev/null
wait "$server" || true
