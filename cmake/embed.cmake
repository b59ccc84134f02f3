# Turns files into one C source: cmake -DNAMES=report.css,report.js -DFROM=<directory> -DSTYLE=<directory of the page's
# styles> -DTO=<file.c> -P embed.cmake
#
# For report.css there are  const char report_css[]  with its bytes and a NUL, and  const unsigned char
# report_css_sha256[32],  by which a page allows just this text to run. A style sheet has the page's own before it; what
# the page shows to those who chose dark, it shows to those whose system is dark, except on paper.
string(REPLACE "," ";" NAMES "${NAMES}")
set(source "#include \"present/html.h\"\n")
foreach(name ${NAMES})
	string(MAKE_C_IDENTIFIER ${name} id)
	file(READ ${FROM}/${name} text)
	if(name MATCHES "css$")
		file(READ ${STYLE}/tokens.css tokens)
		file(READ ${STYLE}/base.css base)
		string(REPLACE ":root[data-theme='dark'] {" "@media screen and (prefers-color-scheme: dark) { :root {"
			tokens "${tokens}")
		set(text "${tokens}}\n${base}${text}")
	endif()
	string(HEX "${text}" bytes)
	string(SHA256 sum "${text}")
	foreach(variable bytes sum)
		string(REGEX REPLACE "(..)" "0x\\1," ${variable} "${${variable}}")
	endforeach()
	string(APPEND source "const char ${id}[] = { ${bytes}0 };\nconst unsigned char ${id}_sha256[32] = { ${sum} };\n")
endforeach()
file(WRITE ${TO} "${source}")
