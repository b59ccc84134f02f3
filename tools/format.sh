#!/usr/bin/env bash
# Formats all C and C++ with clang-format: tools/format.sh [--check]; --check only reports. Always uses the same version,
# because versions differ.
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
