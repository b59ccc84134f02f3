#!/usr/bin/env bash
# American spelling and plain words where users and newcomers read: documents, public headers, examples, the page, tools,
# and the strings of the sources. Comments inside src/ are not checked.
set -u
cd "$SOURCE" || exit 1
british='(un)?(colour|behaviour|honour|neighbour|favour|labelled|cancelled|artefact|catalogue|licence)'
british+='|(utili|normali|synchroni|optimi|initiali|seriali|recogni|summari|minimi|maximi|visuali|organi|vectori)s(e|ing|ation)'
british+='|analys(e|ed|ing)\>'
pattern="\\<($british|nobody|somebody|everybody)"

# The lines of sources without their comments.
code='FNR == 1 { inside = 0 }
	{
		line = ""
		for (s = $0; s != "";) {
			at = index(s, inside ? "*/" : "/*")
			if (!inside)
				line = line substr(s, 1, at ? at - 1 : length(s))
			s = at ? substr(s, at + 2) : ""
			inside = at ? !inside : inside
		}
		print FILENAME ":" FNR ":" line
	}'

found=$(
	grep -niE "$pattern" README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md Makefile
	grep -rniE --include='*.[ch]' --include='*.md' --include='*.ts*' --include='*.css' --include='*.html' \
		--include='*.sh' --include='*.awk' --include='*.cmake' "$pattern" docs include examples tools cmake web/src
	find src \( -name '*.[ch]' -o -name '*.def' \) -exec awk "$code" {} + | grep -iE ":[0-9]+:.*$pattern"
)
[ -z "$found" ] || {
	printf 'words: write it in plain American English:\n%s\n' "$found" >&2
	exit 1
}
