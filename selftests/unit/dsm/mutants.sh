# SPDX-License-Identifier: GPL-2.0
# Mutants of the engine, made mechanically; a sample here, all of them in the
# long run. Read by run.

mutants_are_noticed() {
	local dir=$out/mutants
	"$here/mutate.py" "$top/mios/dsm" "$dir" || return 1
	$CC -std=gnu11 -O2 -w -I"$dir" -I"$top/userspace/mios-dsm" \
		-o "$dir/mios-dsm-mutants" "$dir"/*.c \
		"$top"/userspace/mios-dsm/*.c || return 1
	$CC -std=gnu11 -O2 -w -I"$dir" -o "$dir/fuzz-mutants" \
		"$here/fuzz.c" "$dir"/*.c || return 1
	$CC -std=gnu11 -O2 -w -I"$dir" -o "$dir/engine-mutants" \
		$corners "$dir"/*.c || return 1
	$CC -std=gnu11 -O2 -w -I"$dir" -o "$dir/link-mutants" \
		$links "$dir"/*.c || return 1
	"$here/mutants.py" "$dir" "$litmus" "$@"
}

if [ "$soak" = 1 ]; then
	try "mutants: every one is noticed or explained" \
		mutants_are_noticed 1
else
	try "mutants: a sample is noticed or explained" \
		mutants_are_noticed 30 7
fi
