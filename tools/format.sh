#!/usr/bin/env bash
# Lays out all C and C++ as .clang-format says: tools/format.sh [--check]; with --check only complains. Always with the
# same version, because versions differ.
set -euo pipefail
. "$(dirname "$0")/usage.sh"
mode=(-i)
case ${1-} in
'') ;;
--check) mode=(--dry-run -Werror) ;;
*) wrong_usage ;;
esac
cd "$(dirname "$0")/.."
command -v clang-format-14 > /dev/null || { echo "format: skipped, clang-format-14 is not installed"; exit 77; }
find include src tests fuzz bench examples -name '*.[ch]' -o -name '*.cc' | sort | xargs -r clang-format-14 "${mode[@]}"
