# Puts the figures of several tools side by side, from files as lib.sh's figures makes them; the first one is Sonde's and
# decides which cases there are. -v titles="Sonde;peer;peer" names the columns.
BEGIN {
	FS = "\t"
	n_tools = split(titles, title, ";")
	# Of the runs over a longer time only what peers have, too.
	longer["10 M scopes flat out, each"] = longer["10 M scopes flat out, on disk"] = 1
	longer["10 M scopes flat out, lost (worst round)"] = 1
}

FNR == 1 { tool++ }

tool == 1 && !($1 in unit) && ($1 !~ /M scopes/ || $1 in longer) {
	order[++n_cases] = $1
	unit[$1] = $2
	goal[$1] = $5
	kind[$1] = $6
	pass[$1] = $7
}

# A tool that ran in rounds: the best one counts; of what was lost, the worst.
$1 in unit && $3 != "null" {
	known = (tool, $1) in best
	if (!known || (unit[$1] == "events" ? $3 > best[tool, $1] : $3 < best[tool, $1])) {
		best[tool, $1] = $3
		ratio[tool, $1] = $4
	}
}

function number(x) {
	return sprintf(x >= 100 || x == int(x) ? "%.0f" : x >= 10 ? "%.1f" : "%.2f", x)
}

function cell(tool, name) {
	if (!((tool, name) in best))
		return ""
	if (ratio[tool, name] == "null")
		return number(best[tool, name])
	return number(best[tool, name]) sprintf(" (%.2f)", ratio[tool, name])
}

function goal_text(name) {
	if (goal[name] == "null")
		return ""
	return (kind[name] ~ /ratio/ ? "ratio " : "") (kind[name] ~ /least/ ? ">= " : "<= ") goal[name]
}

END {
	printf "| in ns unless said (ratio to two bare time stamps) | %s | goal | met |", title[1]
	for (t = 2; t <= n_tools; t++)
		printf " %s |", title[t]
	printf "\n|---|--:|---|---|"
	for (t = 2; t <= n_tools; t++)
		printf "--:|"
	printf "\n"
	for (i = 1; i <= n_cases; i++) {
		name = order[i]
		printf "| %s%s | %s | %s | %s |", name, unit[name] == "ns" ? "" : ", " unit[name], cell(1, name), goal_text(name), \
			pass[name] == "true" ? "yes" : pass[name] == "false" ? "**no**" : ""
		for (t = 2; t <= n_tools; t++)
			printf " %s |", cell(t, name)
		printf "\n"
	}
}
