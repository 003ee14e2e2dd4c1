# Shared by the scripts beside it: what is needed, how to get it, and messages. Sourced, never run.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The newest Rust that a dependency asks for (rusqlite); edition 2024 alone needs 1.85.
RUST_MIN=1.89
NODE_MIN=18

log() { printf '[%4d s] %s\n' "$SECONDS" "$*" >&2; }

missing=()      # what is missing, for the reader
packages=()     # the Debian packages that bring it
rust_missing="" # Rust comes from rustup and not from a package

# need WHAT PACKAGES WHY TEST...: notes that WHAT is missing when the command TEST fails.
need() {
    local what=$1 debs=$2 why=$3
    shift 3
    if ! "$@" >/dev/null 2>&1; then
        missing+=("$what ($why)")
        # shellcheck disable=SC2206 # several packages in one word
        packages+=($debs)
    fi
}

have() { command -v "$1"; }

# at_least VERSION MINIMUM: compares dotted versions.
at_least() { [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

have_rust() {
    # rustup installs here, and a shell opened before that does not know it.
    if ! have cargo && [ -x "$HOME/.cargo/bin/cargo" ]; then PATH="$HOME/.cargo/bin:$PATH"; fi
    have cargo && at_least "$(rustc --version | cut -d' ' -f2)" "$RUST_MIN"
}

have_node() { have npm && at_least "$(node --version | tr -d v)" "$NODE_MIN"; }

have_sbin() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1"; }

have_postgres_server() { have initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb'; }

have_mariadb_server() { have_sbin mariadbd && have mariadb-install-db; }

# One line for each requirement.
need_to_build() {
    need "C compiler" "gcc libc6-dev" "the embedded SQLite is compiled" have cc
    need "Node $NODE_MIN or later, with npm" "nodejs npm" "bundles the charts of the report" have_node
    have_rust >/dev/null 2>&1 || rust_missing=1
}

# For emulated drives. As root FUSE needs no program; mkfs.ext4 is found in directories that are not on everybody's PATH.
need_to_emulate() {
    need "FUSE" "fuse3" "emulated drives are mounted with it" have fusermount3
    need "mkfs.ext4" "e2fsprogs" "the filesystem on emulated drives" have_sbin mkfs.ext4
}

need_for_quickstart() {
    need_to_build
}

need_to_test() {
    need_to_build
    need_to_emulate
    need "mkfs.xfs" "xfsprogs" "the other filesystem on emulated drives" have_sbin mkfs.xfs
    need "fio" "fio" "measures drives" have fio
    need "strace" "strace" "kills commands at their system calls" have strace
    need "git" "git" "tidy asks it which files belong to the project" have git
    need "Chromium" "chromium" "opens pages of every kind and checks that everybody can use them" have chromium
    need "openssl" "openssl" "servers of tests that encrypt have a certificate from it" have openssl
    need "sysbench" "sysbench" "plimsoll's own OLTP load is compared with it" have sysbench
    need "PostgreSQL server" "postgresql" "tests start their own, in a temporary directory" have_postgres_server
    need "MariaDB server" "mariadb-server" "tests start their own, in a temporary directory" have_mariadb_server
    need "mariadb-backup" "mariadb-backup" "tests take backups of them" have mariadb-backup
}

# On installation Debian's package creates and starts a cluster nobody asked for. plimsoll starts its own servers, so
# that is turned off; where PostgreSQL is already managed, nothing is touched.
forbid_default_cluster() {
    dpkg-query -W -f '${Status}' postgresql-common 2>/dev/null | grep -q 'ok installed' && return
    log "configuring postgresql-common to create no cluster: /etc/postgresql-common/createcluster.conf"
    mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
}

# Debian's package starts a server on installation unless a policy forbids it (invoke-rc.d asks it). One that is there
# already is left alone, and so is a server that is installed already. Returns whether it made one.
POLICY=/usr/sbin/policy-rc.d
forbid_default_server() {
    if [ -e "$POLICY" ] || have_mariadb_server >/dev/null; then return 1; fi
    log "keeping the package from starting a server while it is installed: $POLICY"
    printf '#!/bin/sh\n# plimsoll: removed after the installation\nexit 101\n' >"$POLICY"
    chmod 755 "$POLICY"
    trap 'rm -f "$POLICY"' EXIT
}

apt_install() {
    local forbidden=""
    export DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1
    quietly apt-get update -qq
    case " $* " in *" postgresql "*) forbid_default_cluster ;; esac
    case " $* " in *" mariadb-server "*) forbid_default_server && forbidden=1 ;; esac
    quietly apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold "$@"
    if [ -n "$forbidden" ]; then
        rm -f "$POLICY"
        trap - EXIT
    fi
}

# Prints the command and runs it; what it prints is shown only when it fails.
quietly() {
    local output
    output=$(mktemp)
    log "$*"
    if ! "$@" </dev/null >"$output" 2>&1; then
        cat "$output" >&2
        rm -f "$output"
        log "that failed; see above"
        exit 2
    fi
    rm -f "$output"
}

# Builds with one line of progress; what cargo prints is shown only when it fails.
build() {
    local output built
    output=$(mktemp)
    "$@" </dev/null >"$output" 2>&1 &
    while kill -0 $! 2>/dev/null; do
        sleep 1
        built=$(grep -c '^ *Compiling' "$output" || true)
        if [ -t 2 ]; then printf '\r[%4d s] %s crates compiled ' "$SECONDS" "$built" >&2
        elif [ $((SECONDS % 60)) -eq 0 ]; then log "$built crates compiled"; fi
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
    if ! wait $!; then
        grep -A 20 -m 3 '^error' "$output" >&2 || tail -n 20 "$output" >&2
        log "error: the build failed"
        log "  the command was: $*"
        log "  all of its output: $output"
        exit 1
    fi
    rm -f "$output"
}

explain_rust() {
    [ -n "$rust_missing" ] || return 0
    log "missing: Rust $RUST_MIN or later. Not from apt: its Rust is years older than the dependencies allow. Get it with"
    echo "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c clippy -c rustfmt" >&2
    echo "or, where rustup is there already,    rustup update stable" >&2
}

start_again() {
    log "then start $0 again."
    exit 2
}

# provide LIST: installs what the list of requirements lacks, as root; otherwise prints how, and exits 2.
provide() {
    "$1"
    if [ -n "$rust_missing" ]; then need "curl" "curl ca-certificates" "fetches rustup" have curl; fi
    if [ ${#missing[@]} -gt 0 ]; then
        printf '         missing: %s\n' "${missing[@]}" >&2
        if [ "$(id -u)" -ne 0 ] || ! have apt-get >/dev/null; then
            log "not root, or no apt-get here: nothing was installed. On Debian or Ubuntu run"
            print_apt_command
            explain_rust
            start_again
        fi
        apt_install "${packages[@]}"
        missing=() packages=()
        "$1"
        if [ ${#missing[@]} -gt 0 ]; then
            printf '         still missing: %s\n' "${missing[@]}" >&2
            log "this distribution's packages are too old. For Node: https://nodejs.org/en/download"
            exit 2
        fi
    fi
    if [ -n "$rust_missing" ]; then
        explain_rust
        start_again
    fi
    log "found: $(rustc --version), node $(node --version), $(cc --version | head -n 1)"
}

print_apt_command() {
    case " ${packages[*]} " in *" postgresql "*)
        if ! dpkg-query -W postgresql-common >/dev/null 2>&1; then
            echo "    sudo mkdir -p /etc/postgresql-common   # so that the package starts no server of its own" >&2
            echo "    echo 'create_main_cluster = false' | sudo tee /etc/postgresql-common/createcluster.conf" >&2
        fi ;;
    esac
    echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold ${packages[*]}" >&2
}
