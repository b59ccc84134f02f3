# Turns files into one C source: cmake -DNAMES=report.css,report.js -DFROM=<directory> -DTO=<file.c> -P embed.cmake
#
# For report.css there are  const char report_css[]  with its bytes and a NUL, and  const unsigned char
# report_css_sha256[32],  by which a page allows just this text to run.
string(REPLACE "," ";" NAMES "${NAMES}")
set(source "#include \"present/html.h\"\n")
foreach(name ${NAMES})
	string(MAKE_C_IDENTIFIER ${name} id)
	file(READ ${FROM}/${name} bytes HEX)
	file(SHA256 ${FROM}/${name} sum)
	foreach(variable bytes sum)
		string(REGEX REPLACE "(..)" "0x\\1," ${variable} "${${variable}}")
	endforeach()
	string(APPEND source "const char ${id}[] = { ${bytes}0 };\nconst unsigned char ${id}_sha256[32] = { ${sum} };\n")
endforeach()
file(WRITE ${TO} "${source}")
