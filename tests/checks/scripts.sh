#!/usr/bin/env bash
# Every script to call by hand says what it does when asked, before it does anything, and does nothing on a wrong option.
set -u
cd "$SOURCE" || exit 1
failed=0

for script in bench/run.sh tools/*.sh; do
	[ "$script" != tools/usage.sh ] || continue
	for option in --help -h; do
		said=$(timeout 10 "$script" $option 2> /dev/null)
		code=$?
		[ "$code" = 0 ] && [ "$said" = "$(sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$script")" ] || {
			echo "scripts: $script $option: exit code $code, says '$said'" >&2
			failed=1
		}
	done
	[ "$script" != tools/screenshots.sh ] || continue # it takes the name of a directory
	timeout 10 "$script" --nonsense > /dev/null 2>&1
	code=$?
	[ "$code" = 2 ] || {
		echo "scripts: $script --nonsense: exit code $code" >&2
		failed=1
	}
done
exit $failed
