#!/usr/bin/env bash
# Runs torture.sh with a minute of faults, which takes two and a half minutes: test_torture.sh HEARSAY
exec bash "$(dirname "${BASH_SOURCE[0]}")/torture.sh" "$1" 60
