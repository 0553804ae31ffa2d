// SPDX-License-Identifier: GPL-2.0
/*
 * Builds an instance's kernel command line: what is reused of instance 0's,
 * then what the operator appends, then what no instance can do without.  The
 * last word wins in the kernel, hence this order.  Called by "mios boot".
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "loader.h"

/* Always there, always last. */
static const char * const always[] = {
	/* IPIs to "all" would reach the CPUs of every other instance. */
	"no_ipi_broadcast=1",
	/*
	 * A kernel that has one CPU leaves the LOCK of its instructions out, and
	 * those of other instances would store between its load and its store.
	 */
	"noreplace-smp",
	/*
	 * A panic must end in the restart hook, which reports it; without
	 * this the CPU loops for ever.
	 */
	"panic=-1",
	/*
	 * All memory may lie above 4 GiB: do not look for a bounce buffer
	 * below, no device here needs one.
	 */
	"swiotlb=noforce",
	/* Package-wide state belongs to instance 0: microcode, MTRRs, ... */
	"dis_ucode_ldr",
	"disable_mtrr_trim",
	/* ... the external NMI, and the counters behind the NMI watchdog. */
	"apic_extnmi=none",
	"nmi_watchdog=0",
};

/*
 * What --reuse-cmdline leaves out: words that describe instance 0's memory,
 * CPUs and devices, of which another instance has none.  A name that ends in
 * '=' is left out with its value; without one it is a word of its own; a
 * final '*' leaves out all that begin so.
 */
static const char * const dropped[] = {
	"BOOT_IMAGE=", "initrd=",	/* the boot loader's own notes */
	"memmap=", "mem=", "memmap", "mios.pool=", "mios.parts=",
					/* addresses of node 0's memory map */
	"crashkernel=", "crashkernel*",	/* no crash kernel: instance 0 looks */
	"kernelcore=", "movablecore=", "memhp_default_state=", "cma=",
	"hugetlb_cma=", "hugepages=", "hugepagesz=", "default_hugepagesz=",
					/* sizes meant for all nodes' memory */
	"movable_node", "numa=",	/* one node here */
	"root=", "rootfstype=", "rootflags=", "rootwait", "rootdelay=",
	"ro", "rw", "resume=", "resume_offset=", "noresume", "nfsroot=", "ip=",
					/* the root comes over mios0 */
	"init=", "rdinit=",		/* the initrd's own */
	"console=", "earlycon", "earlycon=", "earlyprintk", "earlyprintk=",
	"8250*", "fbcon*", "video=", "vga=", "nomodeset", "splash", "quiet",
					/* no UART, no screen; the log is a channel */
	"isolcpus=", "nohz_full=", "rcu_nocbs=", "irqaffinity=", "maxcpus=",
	"nr_cpus=", "possible_cpus=", "nosmp",	/* CPU numbers differ */
	"acpi*", "noapic", "nolapic", "pci=", "pcie*", "efi*", "iommu*",
	"intel_iommu=", "amd_iommu=", "hpet=", "reboot=",
			/* firmware; noapic would open the legacy interrupt */
	"pid_range=",			/* the manifest says it */
	"tsc=", "tsc_early_khz=", "clocksource=", "lpj=",
					/* calibrated by instance 0 */
};

static bool matches(const char *word, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (name[n - 1] == '*')
		return len >= n - 1 && !strncmp(word, name, n - 1);
	if (name[n - 1] == '=')
		return len >= n && !strncmp(word, name, n);
	return len == n && !strncmp(word, name, n);
}

static bool is_dropped(const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		if (matches(word, len, dropped[i]))
			return true;
	return false;
}

/* Length of the word at @text: a blank ends it, except between quotes. */
static size_t word_len(const char *text)
{
	bool quoted = false;
	size_t i;

	for (i = 0; text[i]; i++) {
		if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == ' ' || text[i] == '\t' ||
				     text[i] == '\n'))
			break;
	}
	return i;
}

/* A quote that is not closed would swallow all that follows. */
static bool is_balanced(const char *text, size_t len)
{
	bool quoted = false;
	size_t i;

	for (i = 0; i < len; i++)
		quoted ^= text[i] == '"';
	return !quoted;
}

/* What stands before a "--": the rest is for init, which ours are not. */
static size_t kernel_part(const char *text)
{
	size_t at, len;

	for (at = 0; text[at]; at += len) {
		at += strspn(text + at, " \t");
		len = word_len(text + at);
		if (len == 2 && !strncmp(text + at, "--", 2))
			break;
	}
	return at;
}

struct line {
	char *at;
	size_t room, len;
};

/* Adds a word; one that does not fit still counts, for the message. */
static void add(struct line *line, const char *word, size_t len)
{
	size_t gap = line->len ? 1 : 0;

	if (line->len + gap + len < line->room) {
		if (gap)
			line->at[line->len] = ' ';
		memcpy(line->at + line->len + gap, word, len);
		line->at[line->len + gap + len] = '\0';
	}
	line->len += gap + len;
}

static void add_reused(struct line *line, const char *text)
{
	size_t len;

	for (; *text; text += len) {
		text += strspn(text, " \t\n");
		len = word_len(text);
		/* What follows is for instance 0's init, not its kernel. */
		if (len == 2 && !strncmp(text, "--", 2))
			return;
		if (len && !is_dropped(text, len) && is_balanced(text, len))
			add(line, text, len);
	}
}

/* @reused: instance 0's line, or NULL; @append: the operator's, or NULL. */
int cmdline_build(char *out, size_t len, const char *reused,
		  const char *append, struct loader_error *err)
{
	struct line line = { .at = out, .room = len };
	size_t i, split = 0;

	out[0] = '\0';
	if (append && strpbrk(append, "\n\r"))
		return loader_fail(err, -EINVAL, "--append: a command line is "
				   "one line: leave out the line break");
	if (append && !is_balanced(append, strlen(append)))
		return loader_fail(err, -EINVAL, "--append: a quotation mark "
				   "is not closed");
	if (reused)
		add_reused(&line, reused);
	if (append)
		split = kernel_part(append);
	if (split)
		add(&line, append, split);
	for (i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		add(&line, always[i], strlen(always[i]));
	if (append && append[split])
		add(&line, append + split, strlen(append + split));
	if (line.len >= len)
		return loader_fail(err, -E2BIG, "the command line has %zu "
				   "characters, %zu are possible: shorten "
				   "--append", line.len, len - 1);
	return 0;
}
