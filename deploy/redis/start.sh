#!/bin/sh
# Starts Redis with the users of users.acl. Their passwords come from files; only hashes of them are written.
#
#   start.sh SECRETS DIRECTORY [redis-server options]
#
# SECRETS holds the files redis_password (of lara) and redis_reader_password; DIRECTORY is for what is written.
set -eu
here="$(dirname "$0")"
secrets="$1"
directory="$2"
shift 2

hash_of() { tr -d '\n' < "$secrets/$1" | sha256sum | cut -d ' ' -f 1; }

sed -e "s/LARA_REDIS_HASH/$(hash_of redis_password)/" \
    -e "s/READER_REDIS_HASH/$(hash_of redis_reader_password)/" \
    "$here/users.acl" > "$directory/users.acl"
exec redis-server "$here/redis.conf" --aclfile "$directory/users.acl" "$@"
