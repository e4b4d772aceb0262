#!/usr/bin/env bash
# Runs resume.sh with a few kills: test_resume.sh HEARSAY
exec bash "$(dirname "${BASH_SOURCE[0]}")/resume.sh" "$1" 25
