# Owns a throw-away PostgreSQL: creates it, prints "ready", waits until standard input closes (which the kernel does when
# the bench ends in whatever way), then stops the server and removes the directory. Prints why instead when it fails.
# Arguments: directory (must not exist), folder of the server binaries, settings as name=value.
set -eu
dir=$1 bin=$2
shift 2
trap '' INT TERM HUP QUIT PIPE
mkdir -m 700 "$dir"
clean() {
    if [ -f "$dir/data/postmaster.pid" ]; then
        "$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
    fi
    rm -rf -- "$dir"
}
trap clean EXIT
"$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$dir/log" 2>&1 || { tail -n 5 "$dir/log"; exit 1; }
for setting in "listen_addresses=''" "unix_socket_directories='$dir'" "$@"; do
    echo "$setting" >>"$dir/data/postgresql.conf"
done
"$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w start >/dev/null 2>&1 || { tail -n 5 "$dir/log"; exit 1; }
echo ready 2>/dev/null || true
cat >/dev/null || true
