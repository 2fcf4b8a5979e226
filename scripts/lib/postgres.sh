# Sourced by scripts/test after debian.sh: makes sure that PostgreSQL is installed for the tests of the store on
# it. The tests start a server of their own, as an unprivileged process on a Unix socket.
# shellcheck shell=bash

has_postgres() { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null; }

# Under systemd the package would start a service, so it is not installed there.
install_postgres() { [[ ! -d /run/systemd/system ]] && install_package postgresql "the tests of the store on PostgreSQL"; }

has_postgres || install_postgres ||
    say "PostgreSQL is missing (Debian's postgresql): the tests of the store on it will be skipped"
