// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes of any kind, in buffers that end where they say: the sanitizers see
 * whoever reads on.  Instructions that are known are cut at every length, and
 * all of what is said about a store must hold together.
 *
 *	fuzz ROUNDS SEED
 */
#include "trial.h"

static u8 memory[AREA_SIZE];

static void die(const u8 *code, size_t len, const char *what)
{
	size_t i;

	printf("FAILED: %s:", what);
	for (i = 0; i < len; i++)
		printf(" %02x", code[i]);
	printf("\n");
	exit(1);
}

/* Decoded from a buffer of exactly @len bytes. */
static int decode(struct dsm_insn *in, const u8 *code, size_t len)
{
	u8 *exact = malloc(len ? len : 1);
	int err;

	if (!exact)
		exit(1);
	memcpy(exact, code, len);
	err = dsm_insn_decode(in, len ? exact : exact + 1, len);
	free(exact);
	return err;
}

static const char *wrong_store(const struct dsm_insn *in,
			       const struct dsm_store *s)
{
	u64 at = s->addr;
	int i, size = 0;

	if (s->size > DSM_STORE_MAX || s->parts > 2 || !s->parts != !s->size)
		return "a store too large";
	for (i = 0; i < s->parts; i++) {
		const struct dsm_part *p = &s->part[i];

		if (p->addr != at + size || p->at != size || !p->size ||
		    (p->addr & 4095) + p->size > 4096)
			return "parts that do not fit together";
		size += p->size;
	}
	if (size != s->size)
		return "parts of another size";
	if (s->size && (s->addr + s->size > 1ULL << 47 ||
			s->from + s->size > 1ULL << 47))
		return "an address that is no user's";
	if (s->atomic && s->parts > 1)
		return "a locked instruction on two pages";
	return in->align && s->size && s->addr % in->align ?
		"an address that traps" : NULL;
}

static void perform(const struct dsm_insn *in, const u8 *code, size_t len,
		    const struct dsm_regs *regs)
{
	struct dsm_regs r = *regs, after;
	struct dsm_store s;
	const char *what;
	u8 *vec, *old;
	size_t i;

	vec = below(8) ? malloc(32 * 64) : NULL;
	if (vec)
		memset(vec, 1, 32 * 64);
	r.vec = vec;
	r.flags = random64() & (FLAGS | (below(8) ? 0 : DSM_TF | DSM_AC));
	if (!dsm_store_where(in, &r, &s)) {
		what = wrong_store(in, &s);
		if (what)
			die(code, len, what);
		if (r.flags & (DSM_TF | DSM_AC))
			die(code, len, "a trap is swallowed");
		old = s.reads || s.reads_from ? malloc(s.size + !s.size) : NULL;
		for (i = 0; old && i < s.size; i++)
			old[i] = random64();
		dsm_store_perform(in, &r, old, &s, &after);
		if (after.rip != r.rip + in->length &&
		    !(in->rep && after.rip == r.rip))
			die(code, len, "it goes on somewhere else");
		free(old);
	}
	free(vec);
}

/* True if it was one that is emulated. */
static bool try_bytes(const u8 *code, size_t len, const struct dsm_regs *regs)
{
	struct dsm_insn in, again;
	u8 longer[48];
	size_t n;
	int err = decode(&in, code, len);

	if (err && err != -EINVAL && err != -ENODATA)
		die(code, len, "an error that nobody expects");
	if (err)
		return false;
	if (in.length > len || in.length > DSM_INSN_MAX)
		die(code, len, "longer than its bytes");
	for (n = 0; n < in.length; n++)
		if (decode(&again, code, n) != -ENODATA)
			die(code, n, "cut, and not said so");
	for (n = 0; n < sizeof(longer); n++)
		longer[n] = n < in.length ? code[n] : random64();
	if (decode(&again, longer, sizeof(longer)) ||
	    memcmp(&in, &again, sizeof(in)))
		die(longer, sizeof(longer), "what follows changes it");
	perform(&in, code, len, regs);
	return true;
}

static void random_registers(struct dsm_regs *r)
{
	int i;

	for (i = 0; i < 16; i++)
		r->gpr[i] = random64() >> below(64);
	r->rip = random64() >> 17;
	r->fs_base = random64() >> 17;
	r->gs_base = random64() >> 17;
}

static size_t garbage(u8 *code)
{
	static const u8 begins[] = { 0x0f, 0x62, 0xc4, 0xc5, 0x66, 0xf0, 0xf2,
				     0xf3, 0x48, 0x67 };
	size_t len = below(20), i;

	for (i = 0; i < len; i++)
		code[i] = random64();
	for (i = 0; i < len && i < 3 && below(2); i++)
		code[i] = begins[below(sizeof(begins))];
	if (len > 3 && below(2) && code[0] == 0x62) {
		code[1] &= 0xf7;
		code[2] |= 0x7c;
		code[3] = (code[3] & 0x60) | 8;
	}
	return len;
}

/* lock addq $1, %gs:0(%esi,%edi,2), and a prefix that makes it sixteen. */
static void try_too_long(void)
{
	static const u8 code[] = { 0x67, 0xf0, 0x65, 0x66, 0x4a, 0x81, 0x84,
				   0x7e, 0, 0, 0, 0, 1, 0, 0, 0 };
	struct dsm_insn in;

	if (decode(&in, code, sizeof(code)) != -EINVAL)
		die(code, sizeof(code), "sixteen bytes are taken");
	if (decode(&in, code + 1, sizeof(code) - 1))
		die(code + 1, sizeof(code) - 1, "fifteen bytes are not");
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100000, i;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	long known = 0, known_garbage = 0;
	struct trial t = { 0 };
	u8 code[32];
	size_t len;

	random_seed(seed);
	for (i = 0; i < rounds; i++) {
		len = garbage(code);
		random_registers(&t.regs);
		known_garbage += try_bytes(code, len, &t.regs);
		t.regs.fs_base = 1ULL << 40;
		if (!trial_make(&t, i % form_count(), ~0, memory))
			continue;
		if (!try_bytes(t.code, t.len, &t.regs))
			die(t.code, t.len, "is not known");
		known++;
		trial_change(&t);
		try_bytes(t.code, t.len, &t.regs);
	}
	try_too_long();
	printf("%ld of %ld pieces of garbage are stores; %ld cut short\n",
	       known_garbage, rounds, known);
	return !known || !known_garbage;
}
