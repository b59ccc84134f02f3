# For the scripts of bench/: from the JSON of the programs to lines.
#
#   figures FILE...   case, unit, best, ratio, goal, kind of goal, pass; separated by tabs; "null" where there is none
#   figure CASE UNIT BEST   the same for something that a script found out
#   say TEXT...       to stderr

figures() {
	sed -n -E \
		-e 's/.*"floor_ns": ([0-9.]+).*/two bare time stamps\tns\t\1\tnull\tnull\tnull\tnull/p' \
		-e 's/^ *\{"case": "([^"]*)", "unit": "([^"]*)", "best": ([^,]*), "median": [^,]*, "ratio": ([^,]*), "goal": ([^,]*), "goal_kind": ("[^"]*"|null), "pass": ([a-z]*)\}.*/\1\t\2\t\3\t\4\t\5\t\6\t\7/p' \
		"$@"
}

figure() {
	printf '%s\t%s\t%s\tnull\tnull\tnull\tnull\n' "$@"
}

say() {
	echo "bench: $*" >&2
}
