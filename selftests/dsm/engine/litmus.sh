# SPDX-License-Identifier: GPL-2.0
# Litmus tests in every interleaving. expected lists what the published
# write-update protocols violate; everything else must be OK. Read by run.

seen=$out/transitions
rm -f "$seen".*
part=0

# whole OPTIONS FILES: the option that makes the explorer look at every
# cluster; nothing if the options say how many, or how many runs
whole() {
	[[ " $* " == *" --on "* || " $* " == *" --configs "* ]] ||
		echo --thorough
}

# enough STATUS OPTIONS: nothing was left out but by --configs
enough() {
	local status=$1
	shift
	[ $status -le 1 ] || { [ $status = 3 ] &&
		[[ " $* " == *" --configs "* ]]; } || return 1
	! grep -q 'cut short' "$out/verdicts"
}

# judge OPTIONS FILES: no violation, nothing cut short; note the changes of
# state
judge() {
	part=$((part + 1))
	"$broken" litmus $(whole "$@") --transitions "$seen.$part" "$@" \
		> "$out/verdicts"
	local status=$?
	cat "$out/verdicts"
	[ $status != 1 ] && enough $status "$@"
}

names() {
	local f
	for f in "$@"; do
		echo "$litmus/$f.litmus"
	done
}

# expect PROTOCOL NETWORK OPTIONS FILES: of these files those that the list
# names, no more and no less
expect() {
	local protocol=$1 network=$2 name
	shift 2
	part=$((part + 1))
	"$broken" litmus $(whole "$@") --protocol "$protocol" \
		--network "$network" --transitions "$seen.$part" "$@" \
		> "$out/verdicts"
	enough $? "$@" || { cat "$out/verdicts"; return 1; }
	cat "$out/verdicts"
	awk '/^VIOLATION/ { sub(":", "", $2); print $2 }' "$out/verdicts" |
		sort > "$out/violated"
	awk -v p="$protocol" -v n="$network" \
		'$1 == p && $2 == n { print $3 }' "$litmus/expected" |
		while read -r name; do
			[[ " $* " != *"/$name.litmus "* ]] || echo "$name"
		done | sort > "$out/wanted"
	diff "$out/wanted" "$out/violated"
}

# The simulator's wire without faults keeps a total order, which wu accepts.
wu_shows_sb() {
	"$bin" litmus --on sim --protocol wu "$(names MP)" &&
	! "$bin" litmus --on sim --protocol wu "$(names SB+mfences)" \
		> "$out/verdicts" && cat "$out/verdicts" &&
	grep "forbidden by x86-TSO" "$out/verdicts"
}

# A wish that is refused, or one that nobody makes, hides no end: wi refuses
# every change of mode, and without a death there is one more way to end.
ends_are_judged() {
	local option
	for option in hints evictions expiries deaths pins; do
		"$bin" litmus --$option 1 "$(names MP)" > "$out/verdicts"
		cat "$out/verdicts"
		grep -q "seen yes (0 of 3)" "$out/verdicts" || return 1
	done
}

# What x86-TSO allows beyond sequential consistency does happen: two CPUs of
# one node have store buffers.  Between nodes, an access that is taken away
# drains them first.
store_buffers_are_there() {
	"$bin" litmus "$(names SB)" | tee "$out/verdicts" &&
	grep -q "seen yes (1 of 4)" "$out/verdicts" &&
	"$bin" litmus --no-buffers "$(names SB)" | grep "seen no (0 of 3)"
}

small=$(names CoRR CoWW1 MP SB+mfences XADD2 store+XADD CO-mixed-size \
	CAS-lock 2+2W CROSS-locked)
few=$(names CoRR CoWW1 XADD2 store+XADD)
all=$(echo "$litmus"/*.litmus)
# All cycles of two and three threads: see there
rm -rf "$out/cycles"
"$here/cycles.py" "$out/cycles"
cycles=$(echo "$out"/cycles/*.litmus)
# Four threads: minutes instead of seconds
large=$(names CoWW2 IRIW)
spare=$(ls "$litmus"/*.litmus | grep -vxF "$large")

# On a switch four writers soon have more under way than the tool can hold:
# that is no verdict on the engine.
message_limit() {
	local i status
	{ echo "X86 flood"
	  echo "{ x=0; }"
	  echo " P0 | P1 | P2 | P3 ;"
	  for i in 1 2 3 4 5 6 7 8; do
		echo " MOV [x],\$1 | MOV [x],\$1 | MOV [x],\$1 | MOV [x],\$1 ;"
		echo " MFENCE | MFENCE | MFENCE | MFENCE ;"
	  done
	  echo "exists (x=1)"; } > "$out/flood.litmus"
	"$bin" litmus --on walk --runs 3000 --protocol wu --network total \
		"$out/flood.litmus" > "$out/verdicts" 2> "$out/stderr"
	status=$?
	cat "$out/verdicts" "$out/stderr"
	[ $status = 2 ] && [ ! -s "$out/verdicts" ] &&
		grep "no verdict: more than 48 messages under way" \
			"$out/stderr"
}

# All changes of state that the tests above went through.
# With -u: the documentation may have more.
transitions_agree() {
	sort -u "$seen".* > "$out/code"
	sed -n '/^### Changes of state/,/^##* [^C]/p' "$top/docs/dsm.md" |
		awk -F'`' '/^\| `/ { n = split($6, to, " ");
			for (i = 1; i <= n; i++) print $2, $4, to[i] }' |
		sort -u > "$out/doc"
	if [ -n "$1" ]; then
		comm -13 "$out/doc" "$out/code" | tee "$out/more"
		[ ! -s "$out/more" ]
	else
		diff "$out/doc" "$out/code"
	fi
}

two=$(for f in $all; do
	grep -q '^ *P2' "$f" || grep -q '| *P2' "$f" || echo "$f"; done)

# A loop that waits for a dead node's word does not end.
ending=$(for f in $all; do
	case $f in */MP-loop.litmus) ;; *) echo "$f" ;; esac; done)

# What a developer waits for: each kind of test on what is small.
try "litmus: wi, two threads, every initial owner" expect wi fifo $two
try "litmus: wu, the same, what the paper concedes and no more" \
	expect wu causal $two
try "litmus: wu+, the same" expect wu+ causal $two
try "litmus: wi, small files, an eviction" judge --evictions 1 $few
try "litmus: the same, a lease that runs out" judge --expiries 1 $few
try "litmus: the same, a node dies" judge --deaths 1 $few $(names MP)
try "litmus: the same, pages pinned for a while" judge --pins 1 $few
try "litmus: the same, a node that runs no thread, wrong guesses" \
	judge --spare --guesses 1 $few
try "litmus: mixed, small files, modes change" judge --protocol mixed \
	--hints 1 $(names CoRR CoWW1)
try "litmus: random walks" judge --on walk --runs 2000 --guesses 2 \
	--news 2 --evictions 2 $all
try "litmus: over the timed network" judge --on sim --runs 300 \
	--evictions 1 --guesses 1 --news 2 --loss 20000 --reorder 50000 $all
try "litmus: two nodes die, who lives hears of it in any order" judge \
	--on walk --runs 20000 --deaths 2 --spare --evictions 1 \
	$few $(names WR-three INC3 WRC)
try "litmus: the same, wu+" judge --protocol wu+ --on walk --runs 20000 \
	--deaths 2 --spare --evictions 1 $few $(names WR-three INC3)
try "litmus: the same, over the timed network" judge --on sim --runs 2000 \
	--deaths 2 --spare --loss 10000 $few $(names WR-three INC3 WRC)
try "litmus: a node dies and is born again" judge --deaths 1 --joins 1 $few \
	$(names MP)
try "litmus: the same, wu+" judge --protocol wu+ --deaths 1 --joins 1 \
	$(names CoWW1 XADD2)
try "litmus: two die, and are born again, four nodes" judge --on walk \
	--runs 10000 --deaths 2 --joins 2 --spare --evictions 1 $few \
	$(names WR-three INC3)
try "litmus: the same, wu+, four nodes" judge --on walk --protocol wu+ \
	--runs 10000 --deaths 2 --joins 2 --spare --evictions 1 $few \
	$(names WR-three INC3)
try "litmus: wu-seq, two threads, every initial owner" judge \
	--protocol wu-seq $two
try "litmus: wu-seq, small files, pages taken alone, an eviction" judge \
	--protocol wu-seq --run 1 --evictions 1 $few $(names MP)
try "litmus: the same, modes change" judge --protocol wu-seq --hints 1 \
	$few $(names MP)
try "litmus: wu-seq, a node dies and is born again" judge \
	--protocol wu-seq --deaths 1 --joins 1 $few
try "litmus: wu-seq, all that may happen, on random walks" judge --on walk \
	--protocol wu-seq --runs 2000 --deaths 2 --joins 1 --hints 1 \
	--evictions 1 --expiries 1 --pins 1 --guesses 1 --run 2 $ending
try "litmus: wu-seq, three nodes of which two die, on random walks" judge \
	--on walk --protocol wu-seq --runs 10000 --deaths 2 --joins 2 --spare \
	$few $(names MP SB+mfences)
try "litmus: wu-seq, cycles of stores and loads" judge --on walk \
	--protocol wu-seq --runs 4000 $cycles
try "litmus: ends are judged whatever else may happen" ends_are_judged
try "litmus: too many messages are the tool's limit" message_limit
try "litmus: wi shows SB, which x86-TSO allows" store_buffers_are_there
try "litmus: cycles of stores and loads, wi" judge --on walk --runs 4000 $cycles
for net in causal total; do
	try "litmus: the same, wu, $net order" expect wu $net --on walk \
		--runs 20000 $cycles $(names TIE)
	try "litmus: the same, wu+, $net order" expect wu+ $net --on walk \
		--runs 20000 $cycles $(names TIE)
done
try "litmus: wu over the timed network shows SB with fences" wu_shows_sb

# The rest takes its time.
long "litmus: wi, every file, every initial owner" expect wi fifo $all
long "litmus: wi, all variables on one page" judge --same-page \
	$all
long "litmus: wi with an eviction at any time" judge --evictions 1 $small \
	$(names INC3 WRC)
long "litmus: wi with a lease that runs out" judge --expiries 1 $small \
	$(names CROSS-swap CROSS)
long "litmus: wi, a node dies at any time" judge --deaths 1 $small \
	$(names INC3)
long "litmus: wi, pages pinned for a while" judge --pins 1 $small $(names INC3)
long "litmus: wi, pins, evictions, leases that run out" judge --pins 2 \
	--evictions 1 --expiries 1 $few
long "litmus: wi, pins, a node that runs no thread, wrong guesses" judge \
	--pins 1 --spare --guesses 1 $few
long "litmus: wi, pins, a node dies" judge --pins 1 --deaths 1 $few
long "litmus: mixed, pins, modes change, pages taken alone" judge \
	--protocol mixed --pins 1 --hints 1 --run 1 $few
long "litmus: pins on random walks" judge --on walk --pins 3 --spare \
	--runs 2000 --evictions 1 --guesses 1 --deaths 1 $small
long "litmus: pins over the timed network" judge --on sim --pins 3 --spare \
	--runs 1000 --evictions 1 --guesses 1 --loss 5000 $small
long "litmus: wu, what the paper concedes and no more" expect wu causal $all
long "litmus: wu+, the same" expect wu+ causal $all
long "litmus: wu-seq, every file, every initial owner" judge \
	--protocol wu-seq $all
long "litmus: wu-seq, a node that runs no thread dies" judge \
	--protocol wu-seq --spare --deaths 1 $few $(names MP SB+mfences)
long "litmus: wi, a node that runs no thread" expect wi fifo --spare $spare
long "litmus: wu, a node that runs no thread" expect wu causal --spare $small \
	$(names SB+xchgs R+mfence MP+xchg-flag LB S)
long "litmus: wu+, the same" expect wu+ causal --spare $small \
	$(names SB+xchgs R+mfence MP+xchg-flag LB S)
long "litmus: the same, evictions and wrong guesses" judge --spare \
	--evictions 1 --guesses 1 $few
long "litmus: the same, leases that run out" judge --spare --expiries 1 \
	$few $(names CROSS)
long "litmus: the same, a node dies" judge --spare --deaths 1 $few
long "litmus: wu on a total order has no IRIW" judge --protocol wu \
	--network total --configs 4 $(names IRIW)
long "litmus: wu+ with an eviction at any time" judge --protocol wu+ \
	--evictions 1 --run 1 $few
long "litmus: wu+, a node dies at any time" judge --protocol wu+ \
	--deaths 1 $few
long "litmus: wu+, three nodes of which one dies" judge --protocol wu+ \
	--deaths 1 --configs 1 $(names WRC)
long "litmus: every mix of modes, what wu+ concedes and no more" \
	expect mixed causal $(echo "$spare" | grep -vxF "$(names ISA2)")
long "litmus: every mix of modes on four nodes, random walks" expect mixed \
	causal --on walk --runs 100000 $large
long "litmus: mixed, modes change at any time" judge --protocol mixed \
	--hints 1 $few $(names MP)
long "litmus: mixed, changes, evictions and pages taken alone" judge \
	--protocol mixed --hints 1 --evictions 1 --run 1 $few
long "litmus: wi, whatever owner a node takes for the right one" judge \
	--guesses 1 --configs 24 $small $(names INC3 WRC)
long "litmus: wi, nodes tell each other of owners" judge --news 2 \
	--configs 24 $small $(names INC3 WRC)
long "litmus: random walks" judge --on walk --runs 20000 --guesses 2 \
	--news 2 --evictions 2 $all
long "litmus: random walks, the manager gets in line for a read" judge \
	--on walk --runs 150000 --guesses 1 $(names CoWW2)
long "litmus: random walks, evictions, changes of mode, a death" judge \
	--on walk --runs 10000 --protocol mixed --evictions 3 --hints 3 \
	--deaths 1 --guesses 2 --run 2 $few $(names INC3 XADD2 WRC ISA2)
long "litmus: random walks, a death while an instruction waits for two pages" \
	judge --on walk --runs 50000 --deaths 1 --evictions 2 --spare \
	$(names CROSS-one CROSS-locked CROSS-swap)
long "litmus: wi, one page asked for at a time" judge --asks 1 $small \
	$(names CROSS-one CROSS-swap CROSS)
long "litmus: mixed, the same, a death" judge --asks 1 --deaths 1 \
	--protocol mixed $few
long "litmus: over the timed network" judge --on sim --runs 5000 \
	--evictions 1 --guesses 1 --news 2 $all
long "litmus: over a network that loses, doubles and reorders" judge --on sim \
	--runs 2000 --loss 20000 --duplicate 20000 --reorder 50000 \
	--jitter 30000 --topology tree $all
long "litmus: over the timed network, a node dies" judge --on sim --runs 3000 \
	--deaths 1 --evictions 1 --guesses 1 --loss 5000 $small $(names INC3 WRC)
long "litmus: mixed, thorough, files with 2 or 3 threads" \
	judge --protocol mixed \
	$(names ISA2 WRC CoRR CoWW1 INC3 MP S LB)
long "litmus: wi with two evictions" judge --evictions 2 $small
long "litmus: two of four nodes die, every interleaving" judge \
	--deaths 2 --spare --configs 2 $(names WR-three)
long "litmus: two of three nodes die" judge --deaths 2 --spare $few
long "litmus: one of three nodes is born again" judge --deaths 1 \
	--joins 1 --spare $few
long "litmus: cycles, wi, every interleaving" judge $cycles
long "litmus: cycles, wu+, every interleaving" expect wu+ causal $cycles
long "litmus: cycles, wu+, total order, every interleaving" \
	expect wu+ total $cycles
long "litmus: a death in WRC" judge --deaths 1 $(names WRC ISA2)
long "litmus: every mix of modes on four nodes" expect mixed causal \
	$large
long "litmus: a node that runs no thread, four threads" judge --spare \
	$large
long "litmus: the same, three threads, every initial owner" judge \
	--spare $(names ISA2 WRC RWC+mfence INC3)
long "litmus: the same, a death in MP" judge --spare --deaths 1 \
	$(names MP)
long "litmus: the same, evictions, deaths" judge --spare --deaths 1 \
	--evictions 1 $few
long "litmus: a wrong guess in every file" judge --guesses 1 \
	--configs 60 $all
long "litmus: random walks, long" judge --on walk --runs 1000000 \
	--seed 7 --guesses 3 --evictions 2 --news 2 \
	$all
long "litmus: over the timed network, long" judge --on sim \
	--runs 500000 --seed 7 --guesses 2 --evictions 1 --news 2 \
	--loss 1000 --reorder 10000 $all

# Quick or in parts it may have seen less, and nothing else.
if [ -z "$T" ] && [ "$soak$parts" = 11 ]; then
	long "tables: changes of state in docs/dsm.md" transitions_agree
elif [ -z "$T" ]; then
	always "tables: no other changes of state than docs/dsm.md has" \
		transitions_agree -u
fi
