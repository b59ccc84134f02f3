# Every figure of real traces is what an independent count says.
shared=$SOURCE/../shared/data
if [ ! -d "$shared/traces" ]; then
	echo "skipped: no ../shared/data"
	exit 77
fi
if ! command -v python3 > /dev/null; then
	echo "skipped: no python3"
	exit 77
fi
sets=()
for dir in "$shared"/traces/*/; do
	files=$(ls "$dir"*.gz | paste -s -d ,)
	sets+=("$files")
done
for file in "$shared"/torch/kineto_*.json.gz; do
	case $file in *_rank*) ;; *) sets+=("$file") ;; esac
done
sets+=("$(ls "$shared"/torch/kineto_gloo_rank*.json.gz | paste -s -d ,)")
sets+=("$shared"/profiles/{jax,viztracer}/*.json.gz "$shared"/profiles/onnxruntime/*.json)
sets+=("$shared/profiles/pyspy/numwork.chrometrace.json" "$shared/samples/torch113_profiler_nokineto.json")
if [ -n "$CFLAGS" ]; then # sanitizers: small ones
	few=()
	for files in "${sets[@]}"; do
		[ "$(cat ${files//,/ } | wc -c)" -gt 100000 ] || few+=("$files")
	done
	sets=("${few[@]}")
fi
python3 "$SOURCE/tests/cli/import_counts.py" "$SONDE" "${sets[@]}"
