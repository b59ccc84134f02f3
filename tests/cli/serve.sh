#!/usr/bin/env bash
# sonde serve: its options, and who may ask it, and what it answers.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

echo '{"traceEvents":[{"ph":"X","name":"a","ts":0,"dur":10,"pid":1,"tid":1}]}' > a.json
run serve missing.json
want_code 3
want_err "sonde: missing.json: No such file or directory"
run serve --port 70000 a.json
want_code 2
run serve --listen nowhere a.json
want_code 2
want_err 'sonde: serve: "nowhere" is not an IP address, such as 127.0.0.1; see sonde serve --help'
run serve --port 0 --listen 0.0.0.0 a.json
want_code 2
want_in "$err" "other machines can reach 0.0.0.0"
want_in "$err" "--allow-remote"

if ! command -v python3 > /dev/null; then
	echo "serve: was not asked: no python3"
	finish
fi
generate made
paths=("$work"/made/traces/{nvidia,amd}/rank0.json.gz)
! real_data traces || paths+=("$data"/traces/{tl_h100_bert,tb_resnet50_nw0_b}/rank0.json.gz)
for part in "serve_access.py a.json" "serve_api.py ${paths[*]}"; do
	python3 -B "$SOURCE/tests/cli/"$part || failed=1
done
finish
