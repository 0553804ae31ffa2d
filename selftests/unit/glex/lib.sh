# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# libglex with a test's program, built with sanitizers: after test.sh, at the top of
# the tree.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# built NAME PROGRAM SANITIZERS: with all knobs; the fences are what ThreadSanitizer
# does not know
built()
{
	gcc -std=gnu11 -O1 -g -D_GNU_SOURCE -DMIOS_INJECT -I. \
		-include selftests/unit/glex/os.h -Wall -Wextra -Werror -Wno-tsan -pthread \
		-fsanitize="$3" -o "$work/$1" selftests/unit/glex/"$2"*.c libglex/*.c ||
		fail "$1 does not build"
}

# right NAME WORDS...
right()
{
	local name=$1

	shift
	is "$("$work/$name" "$@" 2>&1)" ok "$name: $*"
}
