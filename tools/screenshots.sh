#!/usr/bin/env bash
# Takes screenshots of every tab for the docs, light and dark, from real traces: tools/screenshots.sh [DIRECTORY]
# DIRECTORY is docs/screenshots if not given. Needs `make`, the browser (tools/setup.sh browser) and the traces of
# ../shared/data.
set -euo pipefail
. "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
data=../shared/data/traces sonde=$PWD/build/release/sonde to=${1:-docs/screenshots}
[ -d $data ] || { echo "screenshots: no $data" >&2 && exit 77; }
[ -d build/browser/node_modules ] || tools/setup.sh browser
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cp $data/tb_resnet50_nw0_b/*.gz "$work/resnet50.json.gz"
cp $data/tb_resnet50_nw4_a/*.gz "$work/resnet50-4-workers.json.gz"
cp $data/tl_h100_vit/*.gz "$work/vit.json.gz"
cp tests/data/torch_compile.json.gz "$work/compiled.json.gz"
"$sonde" merge -o "$work/dlrm.sonde" $data/param_dlrm8 2> /dev/null
chmod -R u+w "$work"
mkdir -p "$to"
NODE_PATH=build/browser/node_modules node tests/browser/screenshots.js "$sonde" "$work" "$to"
