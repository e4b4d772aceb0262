#!/usr/bin/env bash
# A minute of what torture.sh does: test_torture.sh HEARSAY
exec bash "$(dirname "${BASH_SOURCE[0]}")/torture.sh" "$1" 60
