#!/usr/bin/env bash
# See to it that the servers which the tests start are here: Java and Maven, Redis, Prometheus and Alertmanager with
# their tools, and Apache Kafka's jars.
#
# With the argument `image` also to what builds the image in the long proof: buildah and mmdebstrap (Debian only).
#
# Says exactly what is missing and how to get it. Installs by itself only as root on Debian or a child of it.
# Run it as often as you like: it does nothing, in well under a second, when all is here.
set -euo pipefail

readonly oldest_java=17 oldest_redis=7
readonly packages=(openjdk-17-jre-headless maven redis-server prometheus prometheus-alertmanager)
readonly image_packages=(buildah mmdebstrap)
readonly monitoring=(prometheus promtool prometheus-alertmanager amtool)
kafka="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/kafka"
readonly kafka

java_version() { java -version 2>&1 | sed -nE 's/.* version "([0-9]+).*/\1/p'; }
redis_version() { redis-server --version 2>/dev/null | sed -nE 's/.* v=([0-9]+).*/\1/p'; }

# too_old NAME VERSION OLDEST: say what is wrong with a program, or nothing
too_old() {
    if [[ -z "$2" ]]; then
        echo "missing: $1 (version $3 or newer)"
    elif (($2 < $3)); then
        echo "too old: $1 is version $2, and it takes $3 or newer"
    fi
}

missing() {
    too_old java "$(java_version || true)" "$oldest_java"
    too_old redis-server "$(redis_version || true)" "$oldest_redis"
    command -v mvn >/dev/null || echo "missing: mvn (Apache Maven, any version)"
    for program in "${monitoring[@]}"; do
        command -v "$program" >/dev/null || echo "missing: $program (of Prometheus 2.42, Alertmanager 0.25, or newer)"
    done
}

may_install() { [[ "$(id -u)" == 0 && -e /etc/debian_version ]] && command -v apt-get >/dev/null; }

install() {
    echo "installing $*"
    apt-get update -qq
    # RUNLEVEL=1: Debian starts no server of its own; the tests start theirs on free ports.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

explain() {
    echo "$1" >&2
    echo "Debian, Ubuntu:  sudo apt-get install ${packages[*]}" >&2
    echo "macOS:           brew install openjdk maven redis prometheus alertmanager" >&2
}

# Into a folder aside first, so that a fetch cut short never looks like a whole one, nor old jars like new ones.
fetch_kafka() {
    echo "fetching Apache Kafka's jars"
    rm -rf "$kafka/target/fetched"
    mvn -q -B -f "$kafka/pom.xml" dependency:copy-dependencies -DoutputDirectory="$kafka/target/fetched"
    rm -rf "$kafka/target/dependency"
    mv "$kafka/target/fetched" "$kafka/target/dependency"
    touch "$kafka/target/dependency"
}

lacking="$(missing)"
if [[ -n "$lacking" ]] && may_install; then
    install "${packages[@]}"
    hash -r
    lacking="$(missing)"
fi
if [[ -n "$lacking" ]]; then
    explain "$lacking"
    exit 1
fi
if [[ ! -d "$kafka/target/dependency" || "$kafka/pom.xml" -nt "$kafka/target/dependency" ]]; then
    fetch_kafka
fi
if [[ "${1:-}" == image ]] && ! { command -v buildah && command -v mmdebstrap; } >/dev/null; then
    may_install || { echo "missing: ${image_packages[*]}; the image is proved as root on Debian" >&2; exit 1; }
    install "${image_packages[@]}"
fi
echo "services: java $(java_version), redis-server $(redis_version), prometheus, alertmanager, $(basename "$kafka"/target/dependency/kafka_*.jar)"
