# SPDX-License-Identifier: GPL-2.0
# Mistakes of users: one clear line each, a non-zero status, no hang.
# Read by run.

# refuses WORDS COMMAND...: status 2, one line on stderr that has the words
refuses() {
	refuses_to "$out/stdout" "$@"
}

# The same with another standard output.
refuses_to() {
	local stdout=$1 words=$2 status
	shift 2
	timeout 20 "$bin" "$@" > "$stdout" 2> "$out/stderr"
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
	sed 's/x=0; /x=0; 1:ECX=9; /; s/EBX,\[x\]/EBX,[ecx]/' \
		"$litmus/MP.litmus" | file "address is that of no variable" &&
	sed 's/,8)/,3)/' "$litmus/IDX.litmus" | file "scale must be" &&
	sed 's/^filter.*/filter (t[2]=4)/' "$litmus/IDX.litmus" |
		file "index outside" &&
	sed 's/0:EAX/4:EAX/; s/1:EAX=1/1:EAX=/' "$litmus/MP.litmus" |
		file "number expected" &&
	sed 's/MOV \[y\],$1 /L: INC [y]  /; 6a\ JMP L | ;' \
		"$litmus/MP.litmus" | file "loop without end" &&
	sed '6a\ L: JMP L | ;' "$litmus/MP.litmus" |
		file "loop without end" &&
	sed '6a\ L: NOP | ;\n L: NOP | ;' "$litmus/MP.litmus" |
		file "label 'L' twice" &&
	sed '1a (* dsm: x at 0:8 *) (* dsm: y at 0:10 *)' \
		"$litmus/MP.litmus" | file "x and y overlap" &&
	{ sed '$d' "$litmus/MP.litmus"; echo "exists"
	  head -c 65000 /dev/zero | tr '\0' '('; } | file "too deep" &&
	{ sed '$d' "$litmus/MP.litmus"; echo "exists"
	  head -c 65000 /dev/zero | tr '\0' '~'; } | file "too deep" &&
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
	refuses "not a number" sim --nodes "" &&
	refuses "not a number" sim --nodes 2,,3 &&
	refuses "not a number" sim --nodes 2, &&
	refuses "not a number" sim --nodes ,2 &&
	refuses "not a number" sim --loss 2000000 &&
	refuses "none of" sim --policy mesi &&
	refuses "unexpected" sim now &&
	refuses "no command" fly &&
	refuses "no command" &&
	refuses "power of two" sim --window 1000 &&
	refuses "unrecognized" sim --fly
}

# What would be silently ignored: by the place of the runs, the protocol, the
# policy, the pattern.
options_without_effect() {
	local option mp=$litmus/MP.litmus
	for option in "states 9" "configs 9" thorough all trace "network fifo" \
		"expiries 1"; do
		refuses "is not for --on sim" litmus --on sim --$option \
			"$mp" && [ ! -s "$out/stdout" ] || return 1
	done
	for option in "states 9" "configs 9" thorough all; do
		refuses "is not for --on walk" litmus --on walk --$option \
			"$mp" || return 1
	done
	for option in "runs 9" "seed 9" "latency 9000" "jitter 9" "loss 9" \
		"duplicate 9" "reorder 9" "bandwidth 9" "topology tree"; do
		refuses "is not for --on explorer" litmus --$option "$mp" ||
			return 1
	done
	refuses "not for --protocol wi" litmus --run 3 "$mp" &&
	refuses "window is not for --policy ivy" sim --policy ivy \
		--window 64 &&
	refuses "trap is not for --policy giantvm" sim --policy giantvm \
		--trap 9 &&
	refuses "run is not for --policy ivy" sim --policy ivy --run 3 &&
	refuses "ops is not for --pattern one-write" sim --ops 3 \
		--pattern one-write &&
	refuses "think is not for --pattern pingpong" sim --think 3 \
		--pattern pingpong &&
	refuses "sharers is not for --shared" sim --shared --sharers 1
}

# cut_ends_with STATUS WORDS OPTIONS...
cut_ends_with() {
	local status=$1 words=$2
	shift 2
	"$bin" litmus "$@" > "$out/verdicts" 2>&1
	[ $? = "$status" ] && cat "$out/verdicts" &&
		grep -q "$words" "$out/verdicts"
}

# Cut short is not OK, and says what it has proven; worse things go first.
cut_short() {
	local mp=$litmus/MP.litmus
	cut_ends_with 3 "^CUT MP: .* 32 configurations, .*, 23 cut short" \
		--states 50 "$mp" &&
	grep -q "proven for 9 configurations; in 23 nothing" \
		"$out/verdicts" && ! grep -q OK "$out/verdicts" &&
	cut_ends_with 1 "^VIOLATION SB" --protocol wu --states 100 "$mp" \
		"$litmus/SB+mfences.litmus" "$mp" &&
	grep -q "^CUT MP" "$out/verdicts" &&
	cut_ends_with 2 "No such file" --states 50 "$mp" /nonexistent "$mp" &&
	cut_ends_with 3 "^CUT MP: .* 5 of 32 configurations" --configs 5 "$mp" &&
	grep -q "not looked at: 27 configurations" "$out/verdicts" &&
	cut_ends_with 3 "^CUT CROSS: .* 48 of 128 configurations" \
		"$litmus/CROSS.litmus" &&
	grep -q "not looked at: 80 .*; --thorough does" "$out/verdicts" &&
	cut_ends_with 0 "^OK CROSS: .* 128 configurations" \
		--thorough "$litmus/CROSS.litmus"
}

# What is too large for the tool is no violation: nothing has been judged.
limits() {
	local on
	cat > "$out/spin.litmus" <<-'EOF'
	X86 spin
	{ x=0; 0:EAX=0; 1:EAX=1; }
	 P0              | P1              ;
	 L: XCHG [x],EAX | L: XCHG [x],EAX ;
	 CMP EAX,$2      | CMP EAX,$2      ;
	 JNE L           | JNE L           ;
	exists (x=2)
	EOF
	refuses "no verdict: a loop has not ended" litmus \
		"$out/spin.litmus" && [ ! -s "$out/stdout" ] || return 1
	for on in walk sim; do
		refuses "no verdict: a loop has not ended" litmus --on $on \
			--runs 1 "$out/spin.litmus" || return 1
	done
	(ulimit -v 13500 &&
	 refuses "INC3: out of memory after" litmus --evictions 3 \
		--guesses 1 "$litmus/INC3.litmus") && [ ! -s "$out/stdout" ]
}

topologies() {
	refuses "ring needs 3" sim --topology ring --nodes 2 &&
	refuses "do not fit" sim --nodes 4 --sharers 4 &&
	refuses "need a window of 128" sim --nodes 64 --window 64 &&
	refuses "compile needs 4" sim --pattern compile --pages 1 &&
	refuses "at most 32 nodes" sim --policy wu --loss 100 --nodes 2,33 &&
	refuses "at most 32 nodes" sim --loss 100 --nodes 256 &&
	[ ! -s "$out/stdout" ] &&
	refuses "at most 32 nodes" sim --policy wu+ --topology tree \
		--nodes 33 &&
	"$bin" sim --quiet --ops 10 --policy ivy --loss 100 --nodes 33 &&
	"$bin" sim --quiet --ops 10 --policy wu --loss 100 --nodes 2,32 &&
	refuses "refuses this network" litmus --protocol wu --network fifo \
		"$litmus/MP.litmus" &&
	refuses "ring needs 3" litmus --on sim --topology ring \
		"$litmus/MP.litmus"
}

# before_work COMMAND...: refused at once, nothing has been done for nothing
before_work() {
	refuses "No such file" "$@" && [ ! -s "$out/stdout" ]
}

full_disk() {
	local full=/dev/full mp=$litmus/MP.litmus
	refuses_to $full "cannot write" sim --quiet --ops 10 &&
	refuses_to $full "cannot write" sim --quiet --ops 10 --json - &&
	refuses_to $full "cannot write" litmus "$mp" &&
	refuses_to $full "cannot write" litmus --protocol wu \
		"$litmus/SB+mfences.litmus" &&
	refuses_to $full "cannot write" --help &&
	refuses_to $full "cannot write" sim --help &&
	refuses_to $full "cannot write" litmus --help &&
	refuses "No space" sim --quiet --ops 10 --json $full &&
	refuses "No space" sim --quiet --ops 10 --plot $full &&
	refuses "No such file" sim --quiet --json /nonexistent/x &&
	refuses "Is a directory" sim --quiet --plot-stall "$out" &&
	before_work sim --plot /nonexistent/x &&
	before_work litmus --transitions "" "$mp" &&
	refuses "No space" litmus --transitions $full "$mp"
}

# One result would overwrite the other, whatever the file is called.
one_file_twice() {
	local a=$out/twice
	rm -f "$a" "$a.link"
	ln -s twice "$a.link"
	refuses "json and --plot are" sim --json "$a" --plot "$a" &&
	refuses "json and --plot-stall are" sim --json "$a" \
		--plot-stall "$a.link" &&
	refuses "plot and --plot-stall are" sim --plot "$a" \
		--plot-stall "$out/./twice" && [ ! -s "$out/stdout" ] &&
	"$bin" sim --quiet --ops 10 --json /dev/null --plot /dev/null
}

help() {
	"$bin" --help | grep -q usage && "$bin" litmus --help | grep -q usage &&
	"$bin" sim --help | grep -q usage
}

try "input: litmus files that are none" litmus_files
try "input: options" options
try "input: options that would have no effect" options_without_effect
try "input: an exploration cut short is not OK" cut_short
try "input: the tool's limits are no violations" limits
try "input: impossible clusters and networks" topologies
try "input: a full disk" full_disk
try "input: one file for two results" one_file_twice
try "input: --help" help
