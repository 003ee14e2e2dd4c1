# Owns a throw-away MariaDB or MySQL: creates it, prints "ready", waits until standard input closes (which the kernel does when the
# bench ends in whatever way), then stops the server and removes the directory. Prints why instead when it fails.
# Arguments: directory (must not exist), folder of mariadbd or MySQL's mysqld, settings as name=value.
set -eu
dir=$1 bin=$2
shift 2
trap '' INT TERM HUP QUIT PIPE
mkdir -m 700 "$dir"
server=
clean() {
    if [ -n "$server" ]; then
        kill -TERM "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf -- "$dir"
}
trap clean EXIT
{
    printf '[mysqld]\ndatadir=%s/data\nsocket=%s/socket\npid-file=%s/pid\nskip-networking\n' "$dir" "$dir" "$dir"
    printf 'log-error=%s/log\ntmpdir=%s\n' "$dir" "$dir"
    for setting in "$@"; do echo "$setting"; done
} >"$dir/my.cnf"
make() { "$@" >"$dir/install" 2>&1 || { tail -n 5 "$dir/install" "$dir/log"; exit 1; }; }
if [ -x "$bin/mariadbd" ]; then
    program=$bin/mariadbd client=mariadb
    make mariadb-install-db --defaults-file="$dir/my.cnf" --auth-root-authentication-method=normal --skip-test-db
else
    program=$bin/mysqld client=$bin/mysql usr=$(dirname "$bin")
    printf 'basedir=%s\nlc-messages-dir=%s/share/mysql\nmysqlx=OFF\nsecure-file-priv=\n' "$usr" "$usr" >>"$dir/my.cnf"
    make "$program" --defaults-file="$dir/my.cnf" --initialize-insecure
fi
"$program" --defaults-file="$dir/my.cnf" </dev/null >/dev/null 2>&1 &
server=$!
tries=0
until "$client" --no-defaults -u root -S "$dir/socket" -e 'SELECT 1' >/dev/null 2>&1; do
    tries=$((tries + 1))
    if ! kill -0 "$server" 2>/dev/null || [ "$tries" -gt 600 ]; then
        tail -n 5 "$dir/log"
        exit 1
    fi
    sleep 0.1
done
echo ready 2>/dev/null || true
cat >/dev/null || true
