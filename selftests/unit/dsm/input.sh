# SPDX-License-Identifier: GPL-2.0
# Mistakes of users: one clear line each, a non-zero status, no hang.
# Read by run.

# refuses WORDS COMMAND...: status 2, one line on stderr that has the words
refuses() {
	local words=$1 status
	shift
	timeout 20 "$bin" "$@" > "$out/stdout" 2> "$out/stderr"
	status=$?
	cat "$out/stderr"
	[ $status = 2 ] && [ $(wc -l < "$out/stderr") = 1 ] &&
		grep -q -- "$words" "$out/stderr"
}

# file WORDS: the litmus file on stdin is refused with the words
file() {
	cat > "$out/bad.litmus"
	refuses "$1" litmus "$out/bad.litmus"
}

litmus_files() {
	head -c 60 "$litmus/MP.litmus" | file "no initial state" &&
	head -c 82 "$litmus/MP.litmus" | file "file ends in initial" &&
	head -n 5 "$litmus/MP.litmus" | file "file ends before" &&
	sed 's/MOV EBX/PAUSE EBX/' "$litmus/MP.litmus" |
		file ":6: unknown instruction 'pause'" &&
	sed '/exists/d' "$litmus/MP.litmus" | file "before the condition" &&
	sed 's/X86/PPC/' "$litmus/MP.litmus" | file "not an X86" &&
	sed 's/1:EAX=1/7:EAX=1/' "$litmus/MP.litmus" |
		file "no such register" &&
	sed 's/x=0; /x=0; (* open /' "$litmus/MP.litmus" |
		file "comment not closed" &&
	head -c 100000 /dev/zero | file "not a litmus file" &&
	: | file "not an X86" &&
	refuses "No such file" litmus /nonexistent.litmus &&
	refuses "no file" litmus
}

options() {
	refuses "none of: wi" litmus --protocol mesi "$litmus/MP.litmus" &&
	refuses "not a number" litmus --states many "$litmus/MP.litmus" &&
	refuses "not a number" sim --nodes 0 &&
	refuses "not a number" sim --nodes 257 &&
	refuses "no number" sim --nodes "" &&
	refuses "not a number" sim --loss 2000000 &&
	refuses "none of" sim --policy mesi &&
	refuses "unexpected" sim now &&
	refuses "no command" fly &&
	refuses "no command" &&
	refuses "power of two" sim --window 1000 &&
	refuses "unrecognized" sim --fly
}

topologies() {
	refuses "ring needs 3" sim --topology ring --nodes 2 &&
	refuses "do not fit" sim --nodes 4 --sharers 4 &&
	refuses "need a window of 128" sim --nodes 64 --window 64 &&
	refuses "compile needs 4" sim --pattern compile --pages 1 &&
	refuses "causal" sim --policy wu --loss 100 &&
	refuses "causal" sim --policy wu+ --topology tree &&
	refuses "refuses this network" litmus --protocol wu --network fifo \
		"$litmus/MP.litmus"
}

full_disk() {
	"$bin" sim --quiet --ops 10 > /dev/full 2> "$out/stderr"
	[ $? = 2 ] && grep -q "cannot write" "$out/stderr" || return 1
	refuses "No space" sim --quiet --ops 10 --json /dev/full &&
	refuses "No space" sim --quiet --ops 10 --plot /dev/full &&
	refuses "No such file" sim --quiet --json /nonexistent/x &&
	refuses "No space" litmus --transitions /dev/full \
		"$litmus/MP.litmus" &&
	! "$bin" litmus "$litmus/MP.litmus" > /dev/full 2> "$out/stderr" &&
	grep -q "cannot write" "$out/stderr"
}

help() {
	"$bin" --help | grep -q usage && "$bin" litmus --help | grep -q usage &&
	"$bin" sim --help | grep -q usage
}

try "input: litmus files that are none" litmus_files
try "input: options" options
try "input: impossible clusters and networks" topologies
try "input: a full disk" full_disk
try "input: --help" help
