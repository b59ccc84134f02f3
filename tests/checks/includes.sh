#!/usr/bin/env bash
# Which directory may include which. Fails on an include in the wrong direction and on a directory nobody listed.
#
#   includes.sh [SOURCE]    SOURCE holds include/ and src/
set -u

# One row for each directory of src/ and for each subdirectory with rules of its own: the directories, or single headers,
# it may include. The row with the longest path counts. A file may also include public headers, headers of its own
# directory and system headers.
table() {
	cat <<'EOT'
base
format              base format
record              base format
collect             base format record
store               base format store
store/index         base format
store/build         base format store/index
store/draw          base format store/index
import              base store import
import/recording    base format store import
observe             base format store import
import/chrome       base format store import/importer.h import/ranks.h import/arg_set.h import/pairing.h import/input
import/input        base
analyze             base store analyze
analyze/result      base
analyze/math        base
analyze/names       base store
analyze/tables      base store analyze/analysis.h analyze/names analyze/math analyze/result
analyze/analyses    base format store analyze/analysis.h analyze/settings.h analyze/tables analyze/names analyze/math analyze/result
analyze/bottlenecks base store analyze/analysis.h analyze/settings.h analyze/tables analyze/names analyze/math analyze/result analyze/bottlenecks
analyze/compare     base store analyze/analysis.h analyze/settings.h analyze/tables analyze/names analyze/math analyze/result
analyze/flame       base store analyze/tables analyze/names analyze/math
model               base store
export              base format store
query               base store
present             base analyze/result/result.h
session             base store analyze present
serve               base format store import analyze model export query present serve
picture             base format store analyze present serve
cli                 base
EOT
}

# Prints what is wrong below the directory $1; returns 1 if anything is.
check_tree() {
	(cd "$1" && find include src -name '*.[ch]' -o -name '*.def' | sort |
		xargs grep -H -n -E '^[[:space:]]*#[[:space:]]*include' /dev/null) |
		ROWS=$(table) awk '
		BEGIN {
			n = split(ENVIRON["ROWS"], row, "\n")
			for (i = 1; i <= n; i++) {
				m = split(row[i], word, " ")
				known[word[1]] = 1
				for (k = 2; k <= m; k++)
					allowed[word[1], word[k]] = 1
			}
		}
		function parent(p) {
			return sub(/\/[^\/]*$/, "", p) ? p : ""
		}
		# Whether a row of the directory, or its nearest parent with a row, has the target or a directory above it.
		function may_include(from, target,    t) {
			while (from != "" && !(from in known))
				from = parent(from)
			for (t = target; t != ""; t = parent(t))
				if ((from, t) in allowed)
					return 1
			return 0
		}
		function wrong(why) {
			print place ": " why
			failed = 1
		}
		{
			split($0, part, ":")
			place = part[1] ":" part[2]
			split(part[1], path, "/")
			own = parent(part[1])
			sub(/^src\//, "", own)
			match($0, /["<][^">]*[">]/)
			system_header = substr($0, RSTART, 1) == "<"
			target = substr($0, RSTART + 1, RLENGTH - 2)
			dir = target
			sub(/\/.*/, "", dir)

			if (dir == "sonde")
				next
			if (path[1] == "include") {
				if (!system_header || dir in known)
					wrong("a public header includes " target)
			} else if (target ~ /(^|\/)\.\.\//)
				wrong("write the path from src/, not " target)
			else if (system_header ? !(dir in known) || dir == target : dir == target)
				next # of the system, or in the own directory
			else if (!(dir in known))
				wrong(target " is in a directory this check does not know")
			else if (parent(target) != own && !may_include(own, target))
				wrong("src/" own " may not include " target)
		}
		END { exit failed }'
	local failed=$?
	local dir
	for dir in "$1"/src/*/; do
		dir=$(basename "$dir")
		table | grep -q "^$dir\( \|$\)" && continue
		echo "src/$dir: not in the table of tests/checks/includes.sh"
		failed=1
	done
	return $failed
}

tree=$(mktemp -d) && trap 'rm -rf "$tree"' EXIT

# The check must pass a good tree and catch each kind of mistake.
self_test() {
	local verdict path line found
	plant() { # plant <path> <line>
		rm -rf "$tree/src" "$tree/include"
		mkdir -p "$tree/include/sonde" "$tree/src/base" "$(dirname "$tree/$1")"
		printf '#include <sonde/error.h>\n#include <stdio.h>\n#include <sys/stat.h>\n%s\n' "$2" > "$tree/$1"
	}
	while read -r verdict path line; do
		plant "$path" "$line"
		if check_tree "$tree" > /dev/null; then found=good; else found=bad; fi
		[ $found = "$verdict" ] || { echo "includes: self-test: '$line' in $path was taken for $found"; return 1; }
	done <<'EOT'
good src/store/a.c #include "format/recording/file.h"
good src/store/a.c #include "a.h"
good src/present/a.c #include "analyze/result/result.h"
bad src/present/a.c #include "analyze/analyses/report/report.h"
bad src/record/a.c #include "store/trace.h"
bad src/record/a.c # include <store/trace.h>
bad src/base/deeper/a.h #include "format/recording/file.h"
good src/analyze/analyses/idle.c #include "analyze/tables/rows.h"
good src/analyze/analyses/report/names.c #include "analyze/analyses/report/report.h"
good src/analyze/compat/hta/work.c #include "analyze/analyses/critical_path/critical_path.h"
bad src/analyze/analyses/idle.c #include "analyze/analyses/report/report.h"
bad src/analyze/analyses/idle.c #include "analyze/compat/hta/rows.h"
bad src/analyze/math/a.c #include "analyze/tables/rows.h"
bad src/serve/api/a.c #include "picture/picture.h"
bad src/cli/a.c #include "../store/trace.h"
bad src/cli/a.c #include "elsewhere/a.h"
bad src/elsewhere/a.c #include "base/arena.h"
bad include/sonde/a.h #include "base/arena.h"
EOT
}

self_test && check_tree "${1:-$SOURCE}"
