#!/usr/bin/env bash
# Runs torture.sh for a minute: test_torture.sh HEARSAY
exec bash "$(dirname "${BASH_SOURCE[0]}")/torture.sh" "$1" 60
