# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests of OpenMP and of coarrays over instances on this host: what would be
# on several instances are processes of one kernel, and the window is a file in
# /dev/shm.
. "$(dirname "$0")/../lib/test.sh"

top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
window=/dev/shm/mios-test-$$
trap 'rm -rf "$tmp" "$window"' EXIT

# made LIBRARY: that folder of userspace/, by one test at a time, as lib/buildcache.py
# has it: those in two lanes want the same files
made() {
	mkdir -p "$top/build"
	flock "$top/build/.lock" make -s -C "$top/userspace/$1" > "$tmp/log" 2>&1 ||
		fail "$1 does not compile: $(grep -m 1 error "$tmp/log")"
}

# together COUNT FUNCTION WORD...: FUNCTION NUMBER WORD... for each of so many
# processes, with a new window.  The status is that of the first, number 0.
together() {
	local count=$1 i status

	shift
	rm -f "$window"
	truncate -s 8G "$window"
	for i in $(seq $((count - 1))); do
		"$1" "$i" "${@:2}" &
	done
	"$1" 0 "${@:2}"
	status=$?
	wait
	return $status
}

# in_order LIBRARY: its files, whoever calls before whom is called, also by names that
# libc has as well
in_order() {
	make -s -C "$top/userspace/$1" list | xargs nm -A | awk -F '[: ]+' '
		$3 ~ /^[TDBRW]$/ { by[$4] = $1 }
		$2 == "U" { uses[$1, $3] }
		END { for (use in uses) { split(use, part, SUBSEP)
			if (part[2] in by) print part[1], by[part[2]] } }' > "$tmp/pairs"
	[ "$(wc -l < "$tmp/pairs")" -gt 40 ] || fail "$1: cannot read who calls whom"
	tsort "$tmp/pairs" > /dev/null 2> "$tmp/loop" || fail "$1: files call each other \
in a circle: $(grep -o '[a-z_]*\.o' "$tmp/loop" | xargs)"
	ok "$1: no file calls, by whatever name, one that calls it"
}
