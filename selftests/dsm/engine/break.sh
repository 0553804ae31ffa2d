# SPDX-License-Identifier: GPL-2.0
# Each rule of the protocols broken on purpose: the test named for it must
# fail, and pass with the rule whole. Read by run.

# rule KNOB FILE OPTIONS...
rule() {
	local knob=$1 file=$litmus/$2.litmus status
	shift 2
	"$broken" litmus "$@" "$file" || return 1
	"$broken" litmus --break "$knob" "$@" "$file"
	status=$?
	[ $status = 1 ]
}

try "break: pending writes leave before a reply (MP)" \
	rule flush MP --protocol wu
try "break: what the page holds is discarded, N1 (CoRR)" \
	rule n1 CoRR --protocol wu --run 1 --evictions 1
try "break: newer writes constrain the mask (CoWW1)" \
	rule mask CoWW1 --protocol wu
try "break: newer writes constrain the mask (CO-mixed-size)" \
	rule mask CO-mixed-size --protocol wu
try "break: a single writer for atomics (store+XADD)" \
	rule single-writer store+XADD --protocol wu+
try "break: one instruction per grant (CoWW1)" rule lease CoWW1
try "break: write only after all INV_ACKs (MP)" rule inv-ack MP
try "break: a copy overtaken by its INV is void (WRC)" rule old-copy WRC
try "break: a copy overtaken by its INV is void (CoRR on three nodes)" \
	rule old-copy CoRR --spare
try "break: one handoff out of line per seat (INC3)" \
	rule seat INC3 --on walk --runs 2000 --guesses 3
try "break: what nobody holds is lost (MP)" rule loss MP --deaths 1
try "break: a FLUSH ahead of the news is kept (WR-three)" \
	rule ahead WR-three --on walk --runs 2000 --deaths 2 --spare
try "break: a node born again learns who owns what (MP)" \
	rule round MP --deaths 1 --joins 1
try "break: an INV takes the copy away (MP)" rule stale-copy MP
try "break: a store waits for its place (SB+mfences)" \
	rule wait SB+mfences --protocol wu-seq
try "break: what a dead head told some, all learn (CoRR on three nodes)" \
	rule level CoRR --protocol wu-seq --spare --on walk --runs 3000 \
	--deaths 1
