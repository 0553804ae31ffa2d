// SPDX-License-Identifier: GPL-2.0
/*
 * mios check: the running kernel.  Whether it has the series, its modules, the
 * words of its command line, and who keeps it from starting another one.
 */
#include <linux/mios.h>
#include <linux/mios_refusal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "check.h"
#include "loader/loader.h"

#define NOTES		"/sys/kernel/notes"
#define SYMBOLS		"/proc/kallsyms"
#define SECURE_BOOT	"/sys/firmware/efi/efivars/" \
			"SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define LOCKDOWN	"/sys/kernel/security/lockdown"

/* The kernel's own, in pid_set_range(). */
#define PID_MAX_LIMIT	(4 << 20)
#define RESERVED_PIDS	300

/* One of each folder of linux/ that mios.ko and its sisters cannot do without. */
static const struct {
	const char *symbol, *series;
} wanted[] = {
	{ "mios_host_share", "linux/boot" },
	{ "futex_remote_register", "linux/ipc" },
	{ "shm_remote_set", "linux/ipc" },
	{ "process_vm_remote_set", "linux/vm" },
	{ "pid_remote_set", "linux/pid" },
	{ "pid_stat", "linux/pid" },
};

#define NR_WANTED	(sizeof(wanted) / sizeof(wanted[0]))

/* The note by which the loader knows such a kernel, here in the running one. */
static bool has_note(void)
{
	unsigned char notes[8192];
	FILE *file = fopen(NOTES, "re");
	size_t at = 0, len = file ? fread(notes, 1, sizeof(notes), file) : 0;
	uint32_t head[3];
	size_t step;

	if (file)
		fclose(file);
	while (at + sizeof(head) <= len) {
		memcpy(head, notes + at, sizeof(head));
		at += sizeof(head);
		step = (head[0] + 3ULL) / 4 * 4 + (head[1] + 3ULL) / 4 * 4;
		if (step > len - at)
			return false;
		if (head[2] == LOADER_NOTE_MANIFEST &&
		    head[0] == sizeof(LOADER_NOTE_NAME) &&
		    !memcmp(notes + at, LOADER_NOTE_NAME, head[0]))
			return true;
		at += step;
	}
	return false;
}

/* What the running kernel lacks; NULL: nothing, or it does not tell. */
static const char *symbols_missing(bool *told)
{
	bool found[NR_WANTED] = { };
	FILE *file = fopen(SYMBOLS, "re");
	char line[1024], name[512];
	size_t i;

	*told = false;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %*s %511s", name) != 1)
			continue;
		*told = true;
		for (i = 0; i < NR_WANTED; i++)
			found[i] |= !strcmp(name, wanted[i].symbol);
	}
	if (file)
		fclose(file);
	for (i = 0; i < NR_WANTED; i++)
		if (*told && !found[i])
			return wanted[i].series;
	return NULL;
}

static void series(const char *release)
{
	const char *missing;
	bool told;

	if (!has_note()) {
		check_say(CHECK_NOT_YET, "kernel", "%s has not the series "
			  "(CONFIG_MIOS): make deb builds one, boot it",
			  release);
		return;
	}
	missing = symbols_missing(&told);
	if (missing)
		check_say(CHECK_NOT_YET, "kernel", "%s lacks patches of %s: "
			  "build it with all of linux/", release, missing);
	else if (!told)
		check_say(CHECK_UNKNOWN, "kernel", "%s has the series; " SYMBOLS
			  " would tell whether all of it", release);
	else
		check_say(CHECK_GOOD, "kernel", "%s has the series", release);
}

static bool has_module(const char *release)
{
	char path[256], line[4096];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, ":")] = '\0';
		found = strstr(line, "/mios.ko");
	}
	if (file)
		fclose(file);
	return found;
}

static void modules(const char *release)
{
	if (has_module(release))
		check_say(CHECK_GOOD, "modules", "mios.ko is there for %s",
			  release);
	else
		check_say(CHECK_NOT_YET, "modules", "no mios.ko for %s: install "
			  "mios-modules of that kernel, then depmod", release);
}

/* As the kernel reads it: the first range that can be holds. */
static void pid_range(void)
{
	char value[64] = "";
	int i, first, last = PID_MAX_LIMIT - 1;

	for (i = 0; check_word_nth("pid_range=", i, value, sizeof(value)); i++) {
		if (sscanf(value, "%d-%d", &first, &last) == 2 && first >= 1 &&
		    last < PID_MAX_LIMIT && last - first >= 2 * RESERVED_PIDS)
			break;
		last = PID_MAX_LIMIT - 1;
	}
	if (last > MIOS_PIDS_EACH - 1)
		check_say(CHECK_NOT_YET, "pid_range", MIOS_REFUSAL_PIDS,
			  MIOS_PIDS_EACH - 1, MIOS_PIDS_EACH - 1);
	else
		check_say(CHECK_GOOD, "pid_range", "%s", value);
}

static void words(void)
{
	char value[64] = "";

	pid_range();
	if (check_word("no_ipi_broadcast=", value, sizeof(value)) &&
	    strtol(value, NULL, 0))
		check_say(CHECK_GOOD, "no_ipi_broadcast", "%s", value);
	else
		check_say(CHECK_NOT_YET, "no_ipi_broadcast", MIOS_REFUSAL_IPI);
	if (sysconf(_SC_NPROCESSORS_CONF) == 1 &&
	    !check_word("noreplace-smp", value, sizeof(value)))
		check_say(CHECK_STOPS, "number of CPUs", MIOS_REFUSAL_LOCK
			  "; and another instance wants a CPU of its own");
}

static int secure_boot(void)
{
	FILE *file = fopen(SECURE_BOOT, "re");
	unsigned char value[5] = { };
	size_t got = file ? fread(value, 1, sizeof(value), file) : 0;

	if (file)
		fclose(file);
	return got == sizeof(value) ? value[4] : -1;
}

static void firmware(void)
{
	int on = secure_boot();

	if (access("/sys/firmware/efi", F_OK))
		check_say(CHECK_GOOD, "firmware", "no UEFI");
	else if (on == 1 && !has_note())
		check_say(CHECK_STOPS, "firmware", "Secure Boot is on, and starts "
			  "no kernel that nobody has signed: switch it off in "
			  "the firmware's setup");
	else
		check_say(CHECK_UNKNOWN, "firmware", "UEFI%s: nothing has run "
			  "by it yet", on == 1 ? " with Secure Boot" :
			  on ? ", Secure Boot is not told" : "");
}

static void lockdown(void)
{
	char mode[128], crash[8] = "";

	if (!check_read(LOCKDOWN, mode, sizeof(mode)))
		check_say(access("/sys/kernel/security/lsm", R_OK) ?
			  CHECK_UNKNOWN : CHECK_GOOD, "lockdown", LOCKDOWN
			  " is not there");
	else if (strstr(mode, "[none]"))
		check_say(CHECK_GOOD, "lockdown", "none");
	else
		check_say(CHECK_STOPS, "lockdown", MIOS_REFUSAL_LOCKDOWN
			  ": boot without lockdown= and Secure Boot");
	if (check_read("/sys/kernel/kexec_crash_loaded", crash,
		       sizeof(crash)) && crash[0] == '1')
		check_say(CHECK_PART, "kdump", "a crash kernel is loaded: when "
			  "instance 0 panics it resets the machine, with all "
			  "instances");
	else
		check_say(CHECK_GOOD, "kdump", "no crash kernel is loaded; mios "
			  "boot does not need kexec");
}

void check_kernel(void)
{
	struct utsname uts;

	uname(&uts);
	series(uts.release);
	modules(uts.release);
	words();
	firmware();
	lockdown();
}
