# SPDX-License-Identifier: GPL-2.0
# A hostile peer and hostile files, under the address and undefined-behaviour
# sanitizers. Read by run.

sanitize="-std=gnu11 -O1 -g -fsanitize=address,undefined
	-fno-sanitize-recover=all -I$top/mios/dsm"
corners=
for part in engine recover member scale line refuse bounds order adapt ahead; do
	corners="$corners $here/${part}_test.c"
done
links="$here/link_test.c $here/linkhand_test.c"

engine_corners() {
	$CC $sanitize -o "$out/engine_test" $corners $engine &&
	"$out/engine_test"
}

link_delivers() {
	$CC $sanitize -o "$out/link_test" $links $engine &&
	"$out/link_test" "$1"
}

peer_is_harmless() {
	$CC $sanitize -o "$out/fuzz" "$here/fuzz.c" $engine &&
	"$out/fuzz" "$1" "${DSM_SEED:-1}"
}

# The engine did the same when this was written down: it may change with the
# engine's behaviour or the fuzzer's choices, but not unnoticed.
trace_is_the_known_one() {
	local sum tool options
	$CC -std=gnu11 -O2 -I"$top/mios/dsm" -o "$out/fuzz-plain" \
		"$here/fuzz.c" $engine || return 1
	while read -r sum tool options; do
		[ "$tool" = fuzz ] || continue
		set -- $("$out/fuzz-plain" $options | md5sum)
		[ "$1" = "$sum" ] && continue
		echo "$1 $tool $options: another trace than known-results has"
		return 1
	done < "$here/known-results"
}

# What the fuzzer reaches; below these floors it has lost its way.
fuzz_covers() {
	local dir=$out/coverage
	rm -rf "$dir" && mkdir "$dir" && cd "$dir" &&
	$CC -std=gnu11 -O0 --coverage -I"$top/mios/dsm" -o fuzz \
		"$here/fuzz.c" $engine &&
	./fuzz 200000 && gcov -b fuzz-*.gcda > gcov.out 2> /dev/null
	awk '/^File/ { own = /mios\/dsm\// && /\.c/; file = $2 }
		own && /^Lines/ { split($0, a, "[:%]"); split($0, n, "of ");
			lines += n[2]; hit += a[2] * n[2] / 100
			printf "%s %s%% of %d lines\n", file, a[2], n[2] }
		own && /^Taken/ { split($0, a, "[:%]"); split($0, n, "of ");
			br += n[2]; taken += a[2] * n[2] / 100; own = 0 }
		/^$/ { own = 0 }
		END { printf "# coverage: %.1f %% of %d lines, %.1f %% of %d branches\n",
			100 * hit / lines, lines, 100 * taken / br, br
			exit !(hit / lines > 0.9) }' gcov.out
}

# Files cut short at every 31st byte, and with bytes changed: never a crash.
files_are_harmless() {
	local f i size
	$CC $sanitize -DDSM_KNOBS -o "$out/mios-dsm-asan" \
		$tools $engine || return 1
	for f in CAS-lock CROSS MP-loop; do
		size=$(stat -c %s "$litmus/$f.litmus")
		for ((i = 0; i < size; i += 31)); do
			head -c $i "$litmus/$f.litmus" > "$out/cut.litmus"
			timeout 20 "$out/mios-dsm-asan" litmus --configs 1 \
				--states 2000 "$out/cut.litmus" > /dev/null \
				2> "$out/stderr"
			[ $? -le 3 ] && [ $(wc -l < "$out/stderr") -le 1 ] ||
				{ cat "$out/stderr"; return 1; }
			{ head -c $i "$litmus/$f.litmus"; printf '%b' \
				"\\x$(printf %x $((i * 37 % 255 + 1)))"
			  tail -c +$((i + 2)) "$litmus/$f.litmus"; } \
				> "$out/cut.litmus"
			timeout 20 "$out/mios-dsm-asan" litmus --configs 1 \
				--states 2000 "$out/cut.litmus" > /dev/null \
				2> "$out/stderr"
			[ $? -le 3 ] && [ $(wc -l < "$out/stderr") -le 1 ] ||
				{ cat "$out/stderr"; return 1; }
		done
	done
}

try "engine: what clusters rarely reach" engine_corners
try "link: once and in order whatever the wire does" link_delivers 300
long "link: the same, 100000 random runs" link_delivers 100000
try "fuzz: 100000 messages from a hostile peer" peer_is_harmless 100000
long "fuzz: 10000000 messages from a hostile peer" peer_is_harmless 10000000
try "fuzz: the engine's trace is the one written down" \
	trace_is_the_known_one
long "fuzz: it reaches nine lines in ten" fuzz_covers
long "fuzz: litmus files cut short and scrambled" files_are_harmless
