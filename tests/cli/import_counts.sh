#!/usr/bin/env bash
# Every figure of generated traces is what it was made to be, and every figure of real traces what an independent count says.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

generate made
command="import_counts.py"
want "figures differ" python3 "$SOURCE/tests/cli/import_counts.py" "$SONDE" made
real_data traces || finish
sets=()
for dir in "$data"/traces/*/; do
	files=$(ls "$dir"*.json.gz 2> /dev/null | paste -s -d ,)
	[ -z "$files" ] || sets+=("$files") # PyTorch's raw memory timeline is a list of lists, no trace
done
for file in "$data"/torch/kineto_*.json.gz; do
	case $file in *_rank*) ;; *) sets+=("$file") ;; esac
done
sets+=("$(ls "$data"/torch/kineto_gloo_rank*.json.gz | paste -s -d ,)")
sets+=("$data"/profiles/{jax,viztracer}/*.json.gz "$data"/profiles/onnxruntime/*.json)
sets+=("$data/profiles/pyspy/numwork.chrometrace.json" "$data/samples/torch113_profiler_nokineto.json")
if [ -n "${CFLAGS:-}" ]; then # sanitizers: small ones
	few=()
	for files in "${sets[@]}"; do
		[ "$(cat ${files//,/ } | wc -c)" -gt 100000 ] || few+=("$files")
	done
	sets=("${few[@]}")
fi
want "figures of real traces differ" python3 "$SOURCE/tests/cli/import_counts.py" "$SONDE" "${sets[@]}"
finish
