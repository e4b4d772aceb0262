#!/usr/bin/env bash
# Some of the kills of resume.sh: test_resume.sh HEARSAY
exec bash "$(dirname "${BASH_SOURCE[0]}")/resume.sh" "$1" 25
