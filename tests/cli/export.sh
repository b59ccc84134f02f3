#!/usr/bin/env bash
# sonde export: formats, their settings and where they can be written.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

echo '[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"n": 5}}]' > trace.json

run export --list
want_code 0
want_out "chrome  Chrome trace JSON, for Perfetto and chrome://tracing
  names: .json
  target: a file, .gz or .zst compressed, or standard output
  setting: args=yes  write the arguments of events; without them files are smaller"

# The end of the name says how the file is compressed; standard output is plain.
run export trace.json
want_code 0
want_in "$out" '"args": {"n": 5}'
printf '%s\n' "$out" > plain.json
for end in json json.gz json.zst; do
	run export -o "out.$end" trace.json
	want_code 0
	want_out ""
	run export "out.$end"
	want_out "$(cat plain.json)"
done
want "out.json.gz is not gzip" gzip -t out.json.gz
want "out.json.gz holds something else" cmp -s <(gzip -dc out.json.gz) plain.json
if command -v zstd > /dev/null; then
	want "out.json.zst holds something else" cmp -s <(zstd -dcq out.json.zst) plain.json
fi

run export --set args=no trace.json
want_code 0
want "arguments were written" [ "${out#*\"n\"}" = "$out" ]

refuse() { # refuse "message" ARGS...
	local message=$1
	shift
	run export "$@"
	want_code 2
	want_out ""
	want_err "sonde: export: $message"
}
mkdir directory
refuse "directory is a directory; chrome can only be written to a file or standard output" -o directory trace.json
refuse "new/ is a directory; chrome can only be written to a file or standard output" -o new/ trace.json
refuse "http://localhost:1/x is a URL; chrome can only be written to a file or standard output" \
	-o http://localhost:1/x trace.json
refuse "ftp://localhost/x: unknown kind of URL; expected http:// or https://" -o ftp://localhost/x trace.json
refuse 'chrome has no setting "arg"; sonde export --list shows them' --set arg=no trace.json
refuse 'args needs yes or no, not "1.5"' --set args=1.5 trace.json
refuse "--set needs KEY=VALUE, such as args=no, not 'args'; see sonde export --help" --set args trace.json
want "something was written" [ -z "$(ls -A directory)" ]

# A compressed file, too, appears whole or not at all.
if [ -e /dev/full ]; then
	ln -s /dev/full full.json.gz
	run export -o full.json.gz trace.json
	want_code 4
	want_err "sonde: full.json.gz: cannot write: No space left on device"
fi
finish
