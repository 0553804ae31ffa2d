# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests of coarrays on this host: the images are processes of one kernel.
. "$(dirname "$0")/../lib/processes.sh"

runtime=$top/build/caf
made libcaf-mios

# compile NAME OPTION...: the file of that name in guest/, to $tmp
compile() {
	local name=$1

	shift
	"$runtime/mios-caf" -O2 -J "$tmp" -o "$tmp/${name%.*}" \
		"$(dirname "$0")/guest/$name" "$@" > "$tmp/log" 2>&1 ||
		fail "$name does not compile: $(grep -m 1 -i error "$tmp/log")"
}

# image NUMBER COUNT PROGRAM...: one of the processes, from 0, as mios run has it; two
# of them are on each "instance"
image() {
	local number=$1 count=$2

	shift 2
	env MIOS_CAF_WINDOW="$window" MIOS_RANK="$number" \
		MIOS_SIZE="$count" MIOS_INSTANCE=$((number / 2)) \
		LD_LIBRARY_PATH="$runtime" timeout 60 setarch -R "$@"
}

# images COUNT PROGRAM...: the status is that of image 1
images() {
	together "$1" image "$@"
}
