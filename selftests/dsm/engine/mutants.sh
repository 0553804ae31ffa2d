# SPDX-License-Identifier: GPL-2.0
# Mutants of the engine, made mechanically; a sample here, all of them in the
# long run. Read by run.

mutants_are_noticed() {
	local dir=$out/mutants
	"$here/mutate.py" "$top/mios/dsm" "$dir" || return 1
	$CC -std=gnu11 -O1 -w -I"$dir" \
		-o "$dir/mios-dsm-mutants" "$dir"/*.c \
		$tools || return 1
	$CC -std=gnu11 -O1 -w -I"$dir" -o "$dir/fuzz-mutants" \
		"$here/fuzz.c" "$dir"/*.c || return 1
	$CC -std=gnu11 -O1 -w -I"$dir" -o "$dir/engine-mutants" \
		$corners "$dir"/*.c || return 1
	$CC -std=gnu11 -O1 -w -I"$dir" -o "$dir/link-mutants" \
		$links "$dir"/*.c || return 1
	"$here/mutants.py" "$dir" "$litmus" "$@"
}

# Not in a check: the list of those that nobody notices wants a whole run first.
[ "$soak" = 0 ] ||
	always "mutants: every one of this part is noticed or explained" \
		mutants_are_noticed "$parts" "$piece"
