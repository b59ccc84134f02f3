#!/usr/bin/env bash
# `make format` mends what this complains about.
exec bash "$SOURCE/tools/format.sh" --check
