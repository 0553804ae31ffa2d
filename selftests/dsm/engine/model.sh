# SPDX-License-Identifier: GPL-2.0
# A second opinion: models written from docs/dsm.md, checked by rumur for
# deadlock, one writer, the value read, and that everybody is served.
# Read by run.

# A small model is compiled for longer than it runs.
optimise=-O1
[ "$soak" = 1 ] && optimise=-O3

# model_run NAME EDIT: the model with some lines changed; its log in $log
model_run() {
	log=$out/$1.log
	sed "$2" "$here/model/$1.m" > "$out/$1.m" || return 1
	rumur --deadlock-detection stuck --threads 1 --output "$out/$1.c" \
		"$out/$1.m" && $CC $optimise -march=native -w -o "$out/$1" "$out/$1.c" \
		-lpthread || return 1
	"$out/$1" > "$log"
	tail -n 8 "$log"
}

# sized PAGES OPS HINTS: as an edit; wi has no hints
sized() {
	echo "s/^  PAGES: .*;/  PAGES: $1;/; s/^  OPS: .*;/  OPS: $2;/
		s/^  HINTS: .*;/  HINTS: $3;/"
}

# model NAME PAGES OPS HINTS
model() {
	model_run "$1" "$(sized "$2" "$3" "$4")" &&
		grep -q "No error found" "$log"
}

# The models' own teeth: notices NAME PAGES WORDS EDIT, a rule taken out
notices() {
	model_run "$1" "$(sized "$2" 1 0)
		$4"
	! cmp -s "$here/model/$1.m" "$out/$1.m" && grep "$3" "$log"
}

# What the line of requests rests on.
wi_needs() {
	notices wi 2 "sent to the wrong node\|request queue full\|our own request\|served\|DEADLOCK\|deadlock\|one owner" "$1"
}

try "model: wi, 3 nodes, 2 pages" model wi 2 1 0
long "model: wu+, 3 nodes, 2 pages" model wuplus 2 1 0
try "model: wu-seq, 3 nodes, 2 pages" model wuseq 2 1 0
long "model: wi, 3 nodes, 2 pages, 2 requests each" model wi 2 2 0
long "model: wu+, a page's mode changes" model wuplus 1 1 1
long "model: wi without seats fails" wi_needs \
	's/ & seat_for\[a\]\[p\] != ver\[a\]\[p\] then/ \& false then/'
long "model: wi without heirs fails" wi_needs \
	's/^  elsif astray(b, m) then/  elsif false then/'
long "model: wi without its acknowledgements fails" notices wi 2 \
	"many readers\|data value\|acknowledged" \
	'/if acks\[a\]\[p\]\[x\] then return; end;/d'
long "model: wu+ without the flush before a reply fails" notices \
	wuplus 1 "a write that waits" '/^  flush(a);$/d'
long "model: wu+ without the discard of N1 fails" notices wuplus 1 \
	"copies agree" \
	's/ & kept_i\[a\]\[m.p\] > m.counts\[kept_n\[a\]\[m.p\]\]//'
long "model: wu+ with many writers beside atomics fails" notices \
	wuplus 1 "single writer for atomics" \
	'/if acks\[a\]\[p\]\[x\] then return; end;/d'
long "model: wu-seq where a CPU does not wait fails" notices wuseq 2 \
	"a CPU waits" 's/^      post(a, 0, m);/      post(a, 0, m); done(a);/
		s/if who = a then done(a); end;//'
long "model: wu-seq without the log fails" notices wuseq 2 \
	"last write before" 's/ if j > m.n & j <= num\[a\] & log_p/ if false \& log_p/'
long "model: wu-seq over a wire that is only FIFO fails" notices wuseq 2 \
	"knows more\|behind a read" \
	's/net\[j\].dst = net\[i\].dst then/net[j].dst = net[i].dst \& net[j].src = net[i].src then/'
long "model: wu-seq without its acknowledgements fails" notices wuseq 2 \
	"only copy\|behind a read" '/if acks\[a\]\[p\]\[x\] then return; end;/d'
