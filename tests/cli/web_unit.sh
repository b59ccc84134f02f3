#!/usr/bin/env bash
# Layout and data code of the page, without a browser: web/test.
set -u
command -v npm > /dev/null || { echo "npm is missing; tools/setup.sh browser installs it" && exit 77; }
case $BUILD in
*asan | *tsan)
	echo "the page is the same as in the release build, where it is tested"
	exit 77
	;;
esac
for modules in "$SOURCE/build/web/node_modules" "$SOURCE/web/node_modules"; do
	[ -d "$modules/esbuild" ] && break
done
[ -d "$modules/esbuild" ] || { echo "the page was not built, so its tools are not here" && exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cp -r "$SOURCE"/web/{src,test,build.mjs,package.json,tsconfig.json} "$work" && ln -s "$modules" "$work/node_modules" || exit 1
cd "$work" && npm run --silent check && npm test --silent
