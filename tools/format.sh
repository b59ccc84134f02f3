#!/usr/bin/env bash
# Lays out all C and C++ as .clang-format says; with --check only complains. Always with the same version, because
# versions differ.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-format-14 > /dev/null || { echo "format: skipped, clang-format-14 is not installed"; exit 77; }
mode=(-i)
[ "${1-}" != --check ] || mode=(--dry-run -Werror)
find include src tests fuzz bench examples -name '*.[ch]' -o -name '*.cc' | sort | xargs -r clang-format-14 "${mode[@]}"
