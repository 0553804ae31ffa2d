# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests of coarrays on this host: the images are processes of one
# kernel, and the window is a file in /dev/shm.
. "$(dirname "$0")/../lib/test.sh"

top=$(cd "$(dirname "$0")/../.." && pwd)
runtime=$top/build/caf
tmp=$(mktemp -d) || exit 1
window=/dev/shm/mios-caf-test-$$
trap 'rm -rf "$tmp" "$window"' EXIT

# One at a time, as lib/buildcache.py has it: tests in two lanes want the same files.
mkdir -p "$top/build"
flock "$top/build/.lock" make -s -C "$top/userspace/libcaf-mios" > "$tmp/log" 2>&1 ||
	fail "the runtime does not compile: $(grep -m 1 error "$tmp/log")"

# compile NAME OPTION...: the file of that name in guest/, to $tmp
compile() {
	local name=$1

	shift
	"$runtime/mios-caf" -O2 -J "$tmp" -o "$tmp/${name%.*}" \
		"$(dirname "$0")/guest/$name" "$@" > "$tmp/log" 2>&1 ||
		fail "$name does not compile: $(grep -m 1 -i error "$tmp/log")"
}

# image COUNT NUMBER PROGRAM...: one of the processes, as mios run has it; two
# of them are on each "instance"
image() {
	local count=$1 number=$2

	shift 2
	exec env MIOS_CAF_WINDOW="$window" MIOS_RANK="$number" \
		MIOS_SIZE="$count" MIOS_INSTANCE=$((number / 2)) \
		LD_LIBRARY_PATH="$runtime" timeout 60 setarch -R "$@"
}

# images COUNT PROGRAM...: the status is that of image 1, whatever the others'
images() {
	local count=$1 i

	shift
	rm -f "$window"
	truncate -s 2G "$window"
	for i in $(seq $((count - 1))); do
		(image "$count" "$i" "$@") &
	done
	(image "$count" 0 "$@")
	local status=$?
	wait
	return $status
}
