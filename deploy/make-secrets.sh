#!/usr/bin/env bash
# Make up the passwords that docker-compose.yml wants, in the folder `secrets`; those that are there stay.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p -m 700 secrets
for name in redis_password redis_reader_password grafana_password; do
    # Readable in a folder that is not: containers run as users of their own.
    [[ -e "secrets/$name" ]] || (umask 022 && openssl rand -hex 32 > "secrets/$name")
done
