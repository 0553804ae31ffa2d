# SPDX-License-Identifier: GPL-2.0
# A second opinion: models written from docs/dsm.md, checked by rumur.
# Read by run.

# model NAME OPS: requests of each node
model() {
	sed "s/^  OPS: .*;/  OPS: $2;/" "$here/model/$1.m" \
		> "$out/$1.m" || return 1
	rumur --deadlock-detection stuck --output "$out/$1.c" "$out/$1.m" &&
	$CC -O1 -mcx16 -w -o "$out/$1" "$out/$1.c" -lpthread &&
	"$out/$1" > "$out/$1.log"
	local status=$?
	tail -n 8 "$out/$1.log"
	[ $status = 0 ] && grep -q "No error found" "$out/$1.log"
}

# The model's own teeth: without the wait for INV_ACKs it must fail.
model_notices() {
	sed 's/if acks\[a\]\[p\]\[x\] then return; end;//' \
		"$here/model/wi.m" > "$out/bad.m" &&
	! cmp -s "$here/model/wi.m" "$out/bad.m" &&
	rumur --deadlock-detection stuck --output "$out/bad.c" \
		"$out/bad.m" &&
	$CC -O1 -mcx16 -w -o "$out/bad" "$out/bad.c" -lpthread &&
	! "$out/bad" > "$out/bad.log" && grep -q "many readers\|data value\|acknowledged" "$out/bad.log"
}

if ! command -v rumur > /dev/null; then
	skip "model: wi, 3 nodes, 2 pages" "rumur is not installed"
elif [ "$soak" = 1 ]; then
	try "model: wi, 3 nodes, 2 pages, 2 requests each" model wi 2
	try "model: wi without its acknowledgements fails" model_notices
else
	try "model: wi, 3 nodes, 2 pages" model wi 1
fi
