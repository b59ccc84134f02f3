#!/usr/bin/env bash
# Configures a preset, quietly, and builds: tools/build.sh <preset> <targets...>
set -euo pipefail
. "$(dirname "$0")/usage.sh"
[ $# -ge 2 ] || wrong_usage
cd "$(dirname "$0")/.."
preset=$1
shift
# Every time, so that a changed preset takes effect; it takes a second.
cmake --preset "$preset" > /dev/null
cmake --build "build/$preset" --target "$@"
