# SPDX-License-Identifier: GPL-2.0
# Litmus tests in every interleaving. expected lists what the published
# write-update protocols violate; everything else must be OK. Read by run.

seen=$out/transitions
rm -f "$seen".*
part=0

# judge OPTIONS FILES: no violation, nothing cut short; note the changes of
# state
judge() {
	part=$((part + 1))
	"$broken" litmus --transitions "$seen.$part" "$@" > "$out/verdicts"
	local status=$?
	cat "$out/verdicts"
	[ $status = 0 ] && ! grep -q 'cut short' "$out/verdicts"
}

names() {
	local f
	for f in "$@"; do
		echo "$litmus/$f.litmus"
	done
}

# expect PROTOCOL NETWORK OPTIONS: as the file says, no more and no less
expect() {
	local protocol=$1 network=$2
	shift 2
	part=$((part + 1))
	"$broken" litmus --protocol "$protocol" --network "$network" \
		--transitions "$seen.$part" "$@" "$litmus"/*.litmus \
		> "$out/verdicts"
	[ $? -le 1 ] || return 1
	cat "$out/verdicts"
	awk '/^VIOLATION/ { sub(":", "", $2); print $2 }' "$out/verdicts" |
		sort > "$out/violated"
	awk -v p="$protocol" -v n="$network" \
		'$1 == p && $2 == n { print $3 }' "$litmus/expected" |
		sort > "$out/wanted"
	diff "$out/wanted" "$out/violated" || return 1
	! grep -q 'cut short' "$out/verdicts"
}

small=$(names CoRR CoWW1 MP SB+mfences XADD2 store+XADD CO-mixed-size \
	CAS-lock 2+2W CROSS-locked)
few=$(names CoRR CoWW1 XADD2 store+XADD)

# All changes of state that the tests above went through.
transitions_agree() {
	sort -u "$seen".* > "$out/code"
	sed -n '/^### Changes of state/,/^##* [^C]/p' "$top/docs/dsm.md" |
		awk -F'`' '/^\| `/ { n = split($6, to, " ");
			for (i = 1; i <= n; i++) print $2, $4, to[i] }' |
		sort -u > "$out/doc"
	diff "$out/doc" "$out/code"
}

try "litmus: wi, every file and initial state" expect wi fifo
try "litmus: wi, all variables on one page" judge --same-page \
	"$litmus"/*.litmus
try "litmus: wi with an eviction at any time" judge --evictions 1 $small \
	$(names INC3 WRC)
try "litmus: wi with a lease that runs out" judge --expiries 1 $small \
	$(names CROSS-swap CROSS)
try "litmus: wi, a node dies at any time" judge --deaths 1 $small \
	$(names INC3)
try "litmus: wu, what the paper concedes and no more" expect wu causal
try "litmus: wu+, the same" expect wu+ causal
try "litmus: wu on a total order has no IRIW" judge --protocol wu \
	--network total --configs 4 $(names IRIW)
try "litmus: wu+ with an eviction at any time" judge --protocol wu+ \
	--evictions 1 --run 1 $few
try "litmus: wu+, a node dies at any time" judge --protocol wu+ \
	--deaths 1 $few
try "litmus: wu+, three nodes of which one dies" judge --protocol wu+ \
	--deaths 1 --configs 1 $(names WRC)
try "litmus: every mix of modes" judge --protocol mixed \
	$(names MP S LB CoRR CoWW1 XADD2 store+XADD MP+xchg-flag CAS-lock \
	  CROSS-locked CROSS CO-mixed-size MP-mixed-size INC3)
try "litmus: mixed, modes change at any time" judge --protocol mixed \
	--hints 1 $few $(names MP)
try "litmus: mixed, changes, evictions and pages taken alone" judge \
	--protocol mixed --hints 1 --evictions 1 --run 1 $few
try "litmus: random walks" judge --on sim --runs 20000 "$litmus"/*.litmus
try "litmus: random walks, evictions, changes of mode, a death" judge \
	--on sim --runs 5000 --protocol mixed --evictions 3 --hints 3 \
	--deaths 1 --run 2 $few $(names INC3 XADD2)
if [ "$soak" = 1 ]; then
	try "litmus: mixed, every file with 2 or 3 threads, thorough" \
		judge --protocol mixed --thorough \
		$(names ISA2 WRC CoRR CoWW1 INC3 MP S LB)
	try "litmus: wi with two evictions" judge --evictions 2 $small
	try "litmus: a death in WRC" judge --deaths 1 $(names WRC ISA2)
	try "litmus: random walks, long" judge --on sim --runs 2000000 \
		--seed 7 "$litmus"/*.litmus
fi
[ -z "$T" ] && try "tables: changes of state in docs/dsm.md" transitions_agree
