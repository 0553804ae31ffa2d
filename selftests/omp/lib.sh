# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests of OpenMP over instances on this host: the members are processes
# of one kernel, and the window is a file in /dev/shm.
. "$(dirname "$0")/../lib/test.sh"

top=$(cd "$(dirname "$0")/../.." && pwd)
runtime=$top/build/omp
tmp=$(mktemp -d) || exit 1
window=/dev/shm/mios-omp-test-$$
trap 'rm -rf "$tmp" "$window"' EXIT

# One at a time, as lib/buildcache.py has it: tests in two lanes want the same files.
mkdir -p "$top/build"
flock "$top/build/.lock" make -s -C "$top/userspace/libgomp-mios" > "$tmp/log" 2>&1 ||
	fail "the runtime does not compile: $(grep -m 1 error "$tmp/log")"

# compile NAME OPTION...: the file of that name in guest/, to $tmp
compile() {
	local name=$1 compiler=g++

	shift
	[[ $name != *.f90 ]] || compiler="gfortran -J $tmp"
	$compiler -O2 -fopenmp -o "$tmp/${name%.*}" \
		"$(dirname "$0")/guest/$name" "$@" || fail "$name does not compile"
}

# What gives all processes one layout; a test may take it away.
laid_out="setarch -R"

# process MEMBERS NUMBER PROGRAM...: one of the processes, as mios run has it
process() {
	local members=$1 number=$2 commas

	shift 2
	commas=${members//[^,]/}
	timeout 60 $laid_out env MIOS_OMP_WINDOW="$window" MIOS_OMP_MEMBERS="$members" \
		MIOS_RANK="$number" MIOS_SIZE=$((${#commas} + 1)) \
		LD_BIND_NOW=1 LD_PRELOAD="$runtime/libmios-omp.so" \
		LD_LIBRARY_PATH="$runtime" "$@"
}

# team MEMBERS PROGRAM...: 2,1 are two processes, of two members and one.  The
# status is that of the first one, whatever the others'.
team() {
	local members=$1 commas i

	shift
	commas=${members//[^,]/}
	rm -f "$window"
	truncate -s 2G "$window"
	for i in $(seq ${#commas}); do
		process "$members" "$i" "$@" &
	done
	process "$members" 0 "$@"
	local status=$?
	wait
	return $status
}
