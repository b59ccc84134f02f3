# Turns a manual page in Markdown into man(7). Knows the part of Markdown that docs/sonde*.md use:
#
#   # name(section)              the first line             ## SECTION    ### subsection
#   **--top N**                  a definition: the term, and below it
#   : text                       its text
#   - text, 1. text              lists; what belongs to an item or definition is indented by two
#   ``` or four spaces           code, as it is (six in an item)           | a | b |     a table with a header row
#   **bold** *italic* `code` [text](address)                within text; a backslash takes the meaning away
#
# usage: awk -v version=1.2.3 -f man.awk page.md > page.1         (mawk, gawk or any POSIX awk)

function literal(c) { # one character as roff text
	return c == "\\" ? "\\e" : c == "-" ? "\\-" : c == "'" ? "\\(aq" : c
}
function verbatim(s,    i, out) {
	for (i = 1; i <= length(s); i++)
		out = out literal(substr(s, i, 1))
	return out ~ /^\./ ? "\\&" out : out
}
# Text with its emphasis and links. By character, because awks differ about backslashes in replacement strings.
function inline(s,    i, c, rest, end, bold, italic, out) {
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		rest = substr(s, i + 1)
		if (c == "\\" && rest ~ /^[^A-Za-z0-9 ]/) {
			out = out literal(substr(s, ++i, 1))
		} else if (c == "`" && (end = index(rest, "`"))) {
			out = out "\\fB" verbatim(substr(rest, 1, end - 1)) "\\fP"
			i += end
		} else if (c == "*" && rest ~ /^\*/ && (bold || rest ~ /^\*[^ ]/)) {
			out = out ((bold = !bold) ? "\\fB" : "\\fR")
			i++
		} else if (c == "*" && (italic || rest ~ /^[^ *]/)) {
			out = out ((italic = !italic) ? "\\fI" : bold ? "\\fB" : "\\fR")
		} else if (c == "[" && match(rest, /^[^]]*\]\([^)]*\)/)) {
			i += RLENGTH
			end = index(rest, "](")
			out = out inline(substr(rest, 1, end - 1))
			c = substr(rest, end + 2, RLENGTH - end - 2)
			if (c ~ /^[a-z]+:/)
				out = out " <" verbatim(c) ">"
		} else {
			out = out literal(c)
		}
	}
	return out ~ /^\./ ? "\\&" out : out
}
function flush() { # prints the paragraph collected so far
	if (text != "")
		print (macro == "" ? "" : macro "\n") inline(text)
	text = macro = ""
}
function begin(with) { # a paragraph, list item or section; a section begins its first paragraph by itself
	flush()
	macro = with == ".PP" && fresh ? "" : with
	fresh = gap = 0
}
function section(level, title) {
	flush()
	print "." level " " title
	item = 0
	fresh = 1
}
function code_begin() {
	begin("")
	print (item ? ".IP" : ".PP\n.RS 4") "\n.EX"
	code = 1
}
function code_end() {
	print ".EE" (item ? "" : "\n.RE")
	code = fence = blanks = 0
	gap = 1
}
function code_line(s) {
	for (; blanks; blanks--)
		print ""
	print verbatim(s)
}
function is_code(s) { # the same test for the first and for further lines
	return s ~ (item ? "^      " : "^    ")
}
function table_row(line,    n, i, cell) {
	gsub(/^\| *| *\| *$/, "", line)
	n = split(line, cell, / *\| */)
	if (line ~ /^[-:| ]+$/)
		return
	begin("")
	if (++rows <= 2) { # the format of the header row, then of all others
		print (rows == 1 ? ".PP\n.TS" : ".T&")
		for (i = 1; i <= n; i++)
			printf "%s%s", (rows == 1 ? "lb" : "l"), (i < n ? " " : "x.\n")
	}
	for (i = 1; i <= n; i++)
		printf "T{\n%s\nT}%s", inline(cell[i]), (i < n ? "\t" : "\n")
}

NR == 1 {
	split($2, name, /[()]/)
	printf "'\\\" t\n.TH %s %s \"\"", verbatim(toupper(name[1])), name[2]
	printf " \"Sonde %s\" \"Sonde Manual\"\n.nr HY 0\n.ad l\n", version
	next
}
rows && !/^\|/ { print ".TE"; rows = 0; gap = 1 }
fence && /^ *```/ { code_end(); next }
fence { code_line(match($0, /[^ ]/) > indent ? substr($0, indent + 1) : ""); next }
code && /^ *$/ { blanks++; next }
code && !is_code($0) { code_end() }
code || gap && is_code($0) { if (!code) code_begin(); code_line(substr($0, item ? 7 : 5)); next }
/^ *$/ { flush(); gap = 1; next }
/^ *```/ { indent = index($0, "`") - 1; item = indent ? item : 0; code_begin(); fence = 1; next }
/^## / { section("SH", toupper(substr($0, 4))); next }
/^### / { section("SS", inline(substr($0, 5))); next }
/^\|/ { table_row($0); next }
/^: / { macro = ".TP"; flush(); item = 2; text = substr($0, 3); next }
/^ *[-*] / { item = 1; begin(".IP \\(bu 2"); sub(/^ *[-*] +/, "") }
/^ *[0-9]+\. / { item = 1; begin(".IP " $1 " 4"); sub(/^ *[0-9]+\. +/, "") }
gap || item == 2 && /^(\*\*|`)/ { item = /^ / ? item : 0; begin(item ? ".IP" : ".PP") }
{ gsub(/^ +| +$/, ""); text = text (text == "" ? "" : " ") $0 }
END { flush(); if (code) code_end(); if (rows) print ".TE" }
