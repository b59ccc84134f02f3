#!/usr/bin/env bash
# Installs Holistic Trace Analysis from PyPI into a venv of its own, once: peers/hta.sh <directory for it>
# Prints the venv's Python. Exit code 77: it cannot be had.
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
venv=$1
wants=(HolisticTraceAnalysis==0.5.0 pandas==1.5.3 "numpy<2")

if ! "$venv/bin/python" -c "import hta" 2> /dev/null; then
	say "installing ${wants[0]} into $venv ..."
	rm -rf "$venv"
	if ! python3 -m venv "$venv" || ! "$venv/bin/pip" install -q "${wants[@]}" > "$venv.log" 2>&1; then
		say "HTA could not be installed: $(tail -n 1 "$venv.log" 2> /dev/null)"
		rm -rf "$venv"
		exit 77
	fi
	rm -f "$venv.log"
fi
echo "$venv/bin/python"
