# SPDX-License-Identifier: GPL-2.0
# The simulator: results repeat, memory ends as it must, faults of the wire
# change times only. Read by run.

# value FIELD FILE: that field of each result
value() {
	grep -o "\"$1\": [^,}]*" "$2" | cut -d' ' -f2
}

one_seed_one_result() {
	"$bin" sim --quiet --json "$out/a.json" --nodes 2,5 --cpus 2 &&
	"$bin" sim --quiet --json "$out/b.json" --nodes 2,5 --cpus 2 &&
	cmp "$out/a.json" "$out/b.json" &&
	"$bin" sim --quiet --json "$out/b.json" --nodes 2,5 --cpus 2 \
		--seed 2 && ! cmp -s "$out/a.json" "$out/b.json"
}

# Written down once: the same on every machine.
results_are_the_known_ones() {
	local sum tool options
	while read -r sum tool options; do
		[ "$tool" = sim ] || continue
		"$bin" sim --quiet --json - $options > "$out/c.json" ||
			return 1
		set -- $(md5sum "$out/c.json")
		[ "$1" = "$sum" ] && continue
		echo "$1 $options: another result than known-results has"
		return 1
	done < "$here/known-results"
}

wire_faults_cost_time_only() {
	local clean dirty t0 t1 pattern
	for pattern in false-sharing migratory; do
		"$bin" sim --quiet --policy ivy --pattern $pattern \
			--json "$out/clean.json" &&
		"$bin" sim --quiet --policy ivy --pattern $pattern \
			--loss 10000 --duplicate 10000 --reorder 10000 \
			--json "$out/dirty.json" || return 1
		clean=$(value memory "$out/clean.json")
		dirty=$(value memory "$out/dirty.json")
		echo "$pattern: $clean $dirty, sent again:" \
			"$(value link_again "$out/dirty.json")"
		[ "$(value wrong "$out/dirty.json")" = 0 ] || return 1
		[ "$(value link_again "$out/dirty.json")" -gt 10 ] || return 1
		[ $pattern = migratory ] || [ "$clean" = "$dirty" ] ||
			return 1
	done
}

# part_by_hand TEST SOURCE: a part of the runtime, under sanitizers
part_by_hand() {
	$CC -std=gnu11 -O1 -g -Wall -Wextra -fsanitize=address,undefined \
		-fno-sanitize-recover=all -I"$top/mios/dsm" \
		-I"$top/userspace/mios-dsm/runtime" -o "$out/$1" \
		"$here/$1.c" "$top/userspace/mios-dsm/runtime/$2" &&
	"$out/$1"
}

causal_order_holds() {
	part_by_hand causal_test causal.c
}

all_know_who_lives() {
	part_by_hand lives_test lives.c
}

# on_a_bad_wire BINARY POLICY PATTERN OPTIONS...
on_a_bad_wire() {
	"$1" sim --quiet --policy "$2" --pattern "$3" --nodes 8 --ops 1000 \
		--loss 20000 --duplicate 10000 --reorder 100000 --jitter 50000 \
		--json "$out/bad.json" "${@:4}"
}

# Updates need causal order: what comes too early is held back.
updates_on_a_bad_wire() {
	local policy pattern
	for policy in wu wu+; do
		for pattern in migratory lock false-sharing compile; do
			on_a_bad_wire "$bin" $policy $pattern --pages 64 ||
				return 1
			echo "$policy, $pattern: sent again" \
				"$(value link_again "$out/bad.json"), held back" \
				"$(value held_back "$out/bad.json")"
			[ "$(value wrong "$out/bad.json")" = 0 ] &&
			[ "$(value refused "$out/bad.json")" = 0 ] &&
			[ "$(value link_again "$out/bad.json")" -gt 10 ] &&
			[ "$(value held_back "$out/bad.json")" -gt 0 ] ||
				return 1
		done
	done
}

# causal_for STATUS WORDS POLICY PATTERN OPTIONS...: well with the hold-back;
# without it that status, and the words on stderr
causal_for() {
	local status=$1 words=$2
	shift 2
	on_a_bad_wire "$broken" "$@" || return 1
	on_a_bad_wire "$broken" "$@" --break-causal 2> "$out/stderr"
	[ $? = "$status" ] && grep "$words" "$out/stderr"
}

updates_need_causal_order() {
	causal_for 1 "ended with wrong memory" wu+ migratory --pages 512 &&
	causal_for 1 "nothing moves on" wu compile --seed 2
}

bad_wire="--loss 20000 --duplicate 20000 --reorder 50000 --jitter 30000"

# As in the explorer's causal network: what the paper concedes, and no more.
updates_are_judged_alike() {
	local protocol
	for protocol in wu wu+; do
		"$bin" litmus --on sim --runs 2000 --protocol $protocol \
			$bad_wire "$litmus"/*.litmus > "$out/verdicts"
		[ $? = 1 ] || return 1
		awk '/^VIOLATION/ { print $2 }' "$out/verdicts" | tr -d : |
			sort > "$out/violated"
		grep "^$protocol causal " "$litmus/expected" | grep -v cycle- |
			cut -d' ' -f3 | sort | diff - "$out/violated" ||
			return 1
	done
}

# The same, as the judge of litmus tests sees it.
litmus_needs_causal_order() {
	local wrc="--on sim --protocol wu+ $bad_wire $litmus/WRC.litmus"
	"$broken" litmus $wrc &&
	! "$broken" litmus --break-causal $wrc > "$out/verdicts" &&
	grep "copies differ" "$out/verdicts"
}

# The dead node's last messages may be lost for ever: nobody waits for them.
updates_outlive_a_node() {
	judge --on sim --runs 1000 --protocol wu+ --deaths 1 $bad_wire \
		$few $(names INC3 WRC ISA2) &&
	judge --on sim --runs 1000 --protocol mixed --deaths 1 --hints 2 \
		--evictions 2 --run 2 --guesses 1 --news 2 $bad_wire \
		$few $(names INC3 WRC ISA2)
}

pingpong_is_fair() {
	"$bin" sim --quiet --policy ivy --pattern pingpong --nodes 4 \
		--ops 200000 --json "$out/p.json"
	value fairness_thousandths "$out/p.json"
	[ "$(value fairness_thousandths "$out/p.json")" -ge 900 ] &&
		[ "$(value wrong "$out/p.json")" = 0 ]
}

# A lease whose rule is broken: the page moves and moves, nothing is done.
pingpong_needs_the_lease() {
	"$broken" sim --quiet --policy ivy --pattern pingpong --nodes 4 \
		--ops 20000 --break-lease 2> "$out/stderr"
	[ $? = 1 ] && grep "nothing moves on" "$out/stderr"
}

# A wire on which a page takes longer than an answer elsewhere.
slow_wires_only_cost_time() {
	"$bin" sim --quiet --policy giantvm --pattern lock --ops 30 \
		--bandwidth 1 &&
	"$bin" sim --quiet --policy ivy --pattern lock --ops 30 \
		--latency 1000000000 --loss 300000 &&
	"$bin" litmus --on sim --bandwidth 1 --runs 20 "$litmus/MP.litmus"
}

# GiantVM's whole pages fill the wire: a jam must dissolve.
a_jam_dissolves() {
	"$bin" sim --quiet --policy giantvm --pattern read-mostly \
		--nodes 5 --cpus 2
}

upgrade_sends_no_page() {
	"$bin" sim --quiet --policy ivy --pattern one-write --nodes 8 \
		--shared --json "$out/u.json" &&
	"$bin" sim --quiet --policy ivy --pattern one-write --nodes 8 \
		--json "$out/v.json"
	[ "$(value pages_sent "$out/u.json") $(value misses "$out/u.json")" \
		= "0 1" ] && [ "$(value pages_sent "$out/v.json")" = 1 ]
}

large_clusters_run() {
	"$bin" sim --quiet --nodes 256 --ops 20 --policy ivy \
		--pattern compile --pages 64 --json "$out/l.json" &&
	"$bin" sim --quiet --nodes 64 --cpus 4 --ops 20 --policy wu+ \
		--pattern compile --pages 64 &&
	"$bin" sim --quiet --nodes 64 --ops 60 --policy wu+ \
		--pattern compile --pages 64 --window 65536 &&
	"$bin" sim --quiet --nodes 32 --cpus 2 --ops 60 --policy wu+ \
		--pattern compile --pages 64 --topology tree \
		--json "$out/l.json" &&
	# The stamps fill the wire; that is no reason to send twice.
	[ "$(value link_again "$out/l.json")" = 0 ]
}

# Where objects move, nine misses in ten take two hops.
misses_take_two_hops() {
	local pattern all near
	for pattern in read-mostly producer-consumer compile migratory \
		false-sharing; do
		"$bin" sim --quiet --policy ivy --pattern $pattern --pages 64 \
			--ops 4000 --json "$out/h.json" || return 1
		all=$(value misses "$out/h.json")
		near=$(value misses_two_hops "$out/h.json")
		echo "$pattern: $near of $all"
		[ $((near * 10)) -ge $((all * 9)) ] || return 1
	done
}

# Nobody waits for ever, however many give pages away out of line.
owners_are_found() {
	local seed
	for seed in 1 2 3; do
		"$bin" sim --quiet --policy ivy --nodes 16 --pages 64 \
			--ops 1500 --seed $seed || return 1
	done
}

# A window so small that writers wait for it: they wait, and go on.
small_windows_only_cost_time() {
	"$bin" sim --quiet --policy wu --pattern producer-consumer \
		--think 300 --run 60000 --window 64 \
		--ops 400 --json "$out/w.json" || return 1
	echo "waited $(value window_stalls "$out/w.json") times"
	[ "$(value window_stalls "$out/w.json")" -gt 0 ] &&
		[ "$(value announced "$out/w.json")" -gt 0 ] &&
		[ "$(value refused "$out/w.json")" = 0 ]
}

try "sim: one seed, one result" one_seed_one_result
try "sim: the results written down" results_are_the_known_ones
try "sim: loss, duplicates and reordering cost time only" \
	wire_faults_cost_time_only
try "sim: messages held back for causal order, and no others" \
	causal_order_holds
try "lives: nodes that die and come back, by notes that are lost" \
	all_know_who_lives
try "sim: wu and wu+ on a bad wire" updates_on_a_bad_wire
try "sim: wu and wu+ on a bad wire, judged as in the explorer" \
	updates_are_judged_alike
try "sim: wu+ on a bad wire, a node dies" updates_outlive_a_node
try "sim: without causal order memory ends wrong" updates_need_causal_order
try "sim: without causal order copies differ (WRC)" litmus_needs_causal_order
try "sim: a hostile ping-pong stays fair" pingpong_is_fair
try "sim: without leases nothing moves on" pingpong_needs_the_lease
try "sim: a full wire empties again" a_jam_dissolves
try "sim: a slow wire costs time only" slow_wires_only_cost_time
try "sim: no page bytes on an upgrade" upgrade_sends_no_page
try "sim: a small merge buffer costs time only" \
	small_windows_only_cost_time
try "sim: misses in two hops" misses_take_two_hops
try "sim: owners are found, 16 nodes" owners_are_found
try "sim: 256 nodes; 64 nodes of 4 CPUs" large_clusters_run
