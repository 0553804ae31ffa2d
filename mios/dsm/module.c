// SPDX-License-Identifier: GPL-2.0
/*
 * The engine as a kernel module.  Nothing backs it yet; loading it proves
 * that it works when compiled for the kernel: two engines hand a page to
 * and fro, an instruction is emulated, and a failure refuses the load.  No
 * lock: nobody else calls.
 */
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "dsm.h"
#include "emulate/emulate.h"

struct selftest {
	struct dsm *node[2];
	struct dsm_actions *out;
	struct dsm_event ev;
	u8 body[DSM_BODY_MAX];
	bool retried[2];
};

static struct dsm *node_make(u16 self)
{
	struct dsm_config cfg = {
		.nodes = 2, .self = self, .cpus = 1, .protocol = DSM_WI,
		.order = DSM_ORDER_FIFO, .pages = 4, .chunk = 1,
		.requests = 4, .inflight = 1, .batch = 1, .window = 2,
		.run = 1, .lease = 1, .key = { 1, 1 },
	};
	struct dsm *d = vzalloc(dsm_size(&cfg));

	if (d && dsm_init(d, &cfg)) {
		vfree(d);
		return NULL;
	}
	return d;
}

/* One event at a node, and at its peer all messages that follow from it. */
static void step(struct selftest *t, int node)
{
	const struct dsm_action *a;
	u32 i;

	for (;;) {
		bool more = false;

		dsm_step(t->node[node], &t->ev, t->out);
		for (i = 0; i < t->out->count; i++) {
			a = &t->out->act[i];
			if (a->type == DSM_ACT_RETRY)
				t->retried[node] = true;
			if (a->type != DSM_ACT_SEND)
				continue;
			memset(&t->ev, 0, sizeof(t->ev));
			t->ev.type = DSM_EV_MSG;
			t->ev.msg = a->msg;
			t->ev.len = a->len;
			t->ev.body = t->body;
			memcpy(t->body, t->out->body + a->body, a->len);
			more = true;
		}
		if (!more)
			return;
		node = !node;
	}
}

static int hand_over(struct selftest *t)
{
	int i, node;

	for (i = 0; i < 6; i++) {
		node = !(i & 1);
		memset(&t->ev, 0, sizeof(t->ev));
		t->ev.type = DSM_EV_FAULT;
		t->ev.touch = DSM_EXCLUSIVE;
		t->retried[node] = false;
		step(t, node);
		if (!t->retried[node] ||
		    dsm_page_state(t->node[node], 0) != DSM_M ||
		    dsm_page_state(t->node[!node], 0) != DSM_I)
			return -EIO;
		memset(&t->ev, 0, sizeof(t->ev));
		t->ev.type = DSM_EV_RETIRED;
		step(t, node);
	}
	return 0;
}

/* lock xadd %eax, 8(%rdi), on a word that holds 40. */
static int emulate(void)
{
	static const u8 code[] = { 0xf0, 0x0f, 0xc1, 0x47, 0x08 };
	static const u8 old[] = { 40, 0, 0, 0 };
	struct dsm_regs regs = { .gpr = { [0] = 2, [7] = 0x1000 } }, after;
	struct dsm_insn insn;
	struct dsm_store s;
	int err;

	err = dsm_insn_decode(&insn, code, sizeof(code));
	if (!err)
		err = dsm_store_where(&insn, &regs, &s);
	if (err)
		return err;
	dsm_store_perform(&insn, &regs, old, &s, &after);
	return s.addr == 0x1008 && s.atomic && s.value[0] == 42 &&
	       after.gpr[0] == 40 && after.rip == sizeof(code) ? 0 : -EIO;
}

static int __init mios_dsm_init(void)
{
	struct selftest *t = vzalloc(sizeof(*t));
	int err = -ENOMEM;

	if (!t)
		return err;
	t->out = vzalloc(sizeof(*t->out));
	t->node[0] = node_make(0);
	t->node[1] = node_make(1);
	if (t->out && t->node[0] && t->node[1])
		err = hand_over(t);
	if (!err)
		err = emulate();
	if (err)
		pr_err("mios_dsm: self-test failed: %d\n", err);
	vfree(t->node[1]);
	vfree(t->node[0]);
	vfree(t->out);
	vfree(t);
	return err;
}

static void __exit mios_dsm_exit(void)
{
}

module_init(mios_dsm_init);
module_exit(mios_dsm_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Distributed shared memory engine");
