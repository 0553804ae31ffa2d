# SPDX-License-Identifier: GPL-2.0
# What the engine is made of: no libc, no knobs in a release, tables in the
# documentation that agree with the code. Read by run.

engine_asks_for_nothing() {
	local left
	ld -r -o "$out/engine.o" "$top"/build/dsm/release/mios/dsm/*.o &&
	left=$(nm -u "$out/engine.o" | awk '{ print $2 }' |
	       grep -vxE 'memcpy|memset|memcmp|_GLOBAL_OFFSET_TABLE_')
	echo "undefined: $left"
	[ -z "$left" ]
}

engine_has_no_globals() {
	nm "$out/engine.o" | awk '$2 ~ /[bBdDC]/ && $3 !~ /_name$/' |
		tee "$out/globals"
	[ ! -s "$out/globals" ]
}

release_knows_no_knob() {
	! "$bin" litmus --break flush "$litmus/MP.litmus" &&
	! nm "$bin" | grep -i knob
}

# The rows of the table under a heading of docs/dsm.md, first column.
table() {
	awk -v h="$1" '$0 == h { on = 1; next } /^#/ { on = 0 }
		on && /^\| `/ { print }' "$top/docs/dsm.md"
}

states_agree() {
	table "### States" | sed 's/^| `\([A-Z]*\)` | \([a-z]*\) .*/\1 \2/' \
		> "$out/doc"
	"$broken" tables states > "$out/code" && diff "$out/doc" "$out/code"
}

messages_agree() {
	table "### Messages" | sed 's/^| `\([A-Z_]*\)`.*/\1/' > "$out/doc"
	"$broken" tables messages > "$out/code" &&
	diff "$out/doc" "$out/code"
}

try "engine: nothing undefined but memcpy, memset, memcmp" \
	engine_asks_for_nothing
try "engine: no variables of its own" engine_has_no_globals
try "engine: a release build knows no knob" release_knows_no_knob
try "tables: states in docs/dsm.md" states_agree
try "tables: messages in docs/dsm.md" messages_agree
