# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests of OpenMP over instances on this host: the members are of several
# processes.
. "$(dirname "$0")/../lib/processes.sh"

runtime=$top/build/omp
made libgomp-mios

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

# process NUMBER MEMBERS PROGRAM...: one of the processes, as mios run has it
process() {
	local number=$1 members=$2 commas

	shift 2
	commas=${members//[^,]/}
	timeout 60 $laid_out env MIOS_OMP_WINDOW="$window" MIOS_OMP_MEMBERS="$members" \
		MIOS_RANK="$number" MIOS_SIZE=$((${#commas} + 1)) \
		LD_BIND_NOW=1 LD_PRELOAD="$runtime/libmios-omp.so" \
		LD_LIBRARY_PATH="$runtime" "$@"
}

# team MEMBERS PROGRAM...: 2,1 are two processes, of two members and one
team() {
	local commas=${1//[^,]/}

	together $((${#commas} + 1)) process "$@"
}
