# SPDX-License-Identifier: GPL-2.0
# What the engine is made of: no libc, no knobs in a release, tables in the
# documentation that agree with the code. Read by run.

# The engine as one object; its symbols go to $out/symbols.
engine_symbols() {
	local file objects=
	for file in $engine; do
		file=${file#"$top"}
		objects="$objects $top/build/dsm/release${file%.c}.o"
	done
	rm -f "$out/engine.o"
	ld -r -o "$out/engine.o" $objects &&
	nm "$out/engine.o" > "$out/symbols" &&
	grep -q ' T dsm_step$' "$out/symbols"
}

engine_asks_for_nothing() {
	local left
	engine_symbols || return 1
	left=$(awk '$1 == "U" { print $2 }' "$out/symbols" |
	       grep -vxE 'memcpy|memset|memcmp|_GLOBAL_OFFSET_TABLE_')
	echo "undefined: $left"
	[ -z "$left" ]
}

engine_has_no_globals() {
	engine_symbols || return 1
	awk '$2 ~ /^[bBdDC]$/ && $3 !~ /_name$/' "$out/symbols" |
		tee "$out/globals"
	[ ! -s "$out/globals" ]
}

release_knows_no_knob() {
	"$bin" litmus --break flush "$litmus/MP.litmus" 2>&1 |
		grep "unrecognized option" &&
	nm "$bin" > "$out/symbols" && ! grep -i knob "$out/symbols"
}

# The rows of the table under a heading of docs/dsm.md, first column.
table() {
	awk -v h="$1" '$0 == h { on = 1; next } /^#/ { on = 0 }
		on && /^\| `/ { print }' "$top/docs/dsm.md"
}

# columns N HEADING: N columns in every row, only a body may be empty
columns() {
	table "$2" | awk -F'|' -v n="$1" '{
		for (i = 2; i < NF; i++)
			if ($i ~ /^ *$/ && !(n == 4 && i == 4)) exit bad = 1
		if (NF != n + 2) exit bad = 1
	} END { if (bad) print "a column is missing: " $0; exit bad }'
}

states_agree() {
	columns 3 "### States" || return 1
	table "### States" | sed 's/^| `\([A-Z]*\)` | \([a-z]*\) .*/\1 \2/' \
		> "$out/doc"
	"$broken" tables states > "$out/code" && diff "$out/doc" "$out/code"
}

messages_agree() {
	columns 4 "### Messages" || return 1
	table "### Messages" | sed 's/^| `\([A-Z_]*\)`.*/\1/' > "$out/doc"
	"$broken" tables messages > "$out/code" &&
	diff "$out/doc" "$out/code"
}

# says WORDS: docs/dsm.md has them, whatever the line breaks
says() {
	tr '\n' ' ' < "$top/docs/dsm.md" | grep -qF -- "$1" && return
	echo "not in docs/dsm.md: $1"
	return 1
}

# size NAME: bytes, as the compiler has it
size() {
	"$broken" tables sizes | awk -v n="$1" '$1 == n { print $2 }'
}

sizes_agree() {
	local frame=$(($(size frame) + $(size message)))
	says "### Messages $(size message) bytes each (" &&
	says "), $frame with the link's header" &&
	says "acknowledgement are $((2 * frame)) bytes" &&
	says "writes of $(size write) bytes" &&
	says "not yet told the asker ($(size owner) bytes each;"
}

# sent FIELD: per type of message, from a result of the simulator
sent() {
	grep -o "\"$1\": {[^}]*" "$out/bodies.json" |
		grep -o '"[A-Z_]*": [0-9]*' | tr -d '":'
}

# What the engines of the simulator sent, each policy with and without
# probable owners:
# policy, owners, type, how many, type, bytes.
bodies_measure() {
	local policy owners
	for policy in ivy wu wu+; do
		for owners in 1 0; do
			"$bin" sim --quiet --policy $policy --nodes 4 \
				--pattern compile --ops 300 --json - \
				$([ $owners = 1 ] || echo --no-hints) \
				> "$out/bodies.json" || return 1
			paste -d' ' <(sent sent) <(sent bytes) |
				sed "s/^/$policy $owners /"
		done
	done
}

# That is to the byte what the table promises.  The simulator evicts nothing
# and nobody dies.
bodies_agree() {
	table "### Messages" > "$out/doc"
	bodies_measure > "$out/sent" &&
	awk -v message="$(size message)" -v write="$(size write)" \
		-v owner="$(size owner)" '
		NR == FNR { split($0, c, "|"); gsub(/[ `]/, "", c[2])
			body[c[2]] = c[4]; next }
		{ what = body[$3]; left = $6 - $4 * message; seen[$3] += $4
		  if (what ~ /copyset/) left -= 8 * $4
		  if (what ~ /counts/ && !(what ~ /counts \(\*\)/ &&
					   $1 == "ivy")) left -= 16 * $4
		  unit = what ~ /owners/ && $2 ? owner : what ~ /writes/ ? write : 0
		  if (unit && $4 ? left <= 0 || left % unit : left) {
			print $0 ": not as the body \"" what "\" says"
			bad = 1 } }
		END { for (t in body) if (!seen[t]) print t > "/dev/stderr"
		      exit bad }' "$out/doc" "$out/sent" 2> "$out/unsent" &&
	echo EVICT FLUSH GONE HOLD HOLD_END OWNED READY TAKE |
		tr ' ' '\n' | diff - <(sort "$out/unsent")
}

try "engine: nothing undefined but memcpy, memset, memcmp" \
	engine_asks_for_nothing
try "engine: no variables of its own" engine_has_no_globals
try "engine: a release build knows no knob" release_knows_no_knob
try "tables: states in docs/dsm.md" states_agree
try "tables: messages in docs/dsm.md" messages_agree
try "tables: sizes of messages in docs/dsm.md" sizes_agree
try "tables: bodies of messages in docs/dsm.md" bodies_agree
