// SPDX-License-Identifier: GPL-2.0
/*
 * mios check: processors.  Whose they are, clock, encryption of memory,
 * interrupt controllers, and what CPUs of one package share.
 */
#include <cpuid.h>
#include <glob.h>
#include <linux/mios_refusal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define CPU_DIR		"/sys/devices/system/cpu"
#define CLOCK_DIR	"/sys/devices/system/clocksource/clocksource0"

#define MSR_APIC_BASE	0x1b
#define X2APIC_ENABLED	(1ULL << 10)
#define MSR_AMD64_SEV	0xc0010131

static void vendor(void)
{
	char name[64];

	if (check_differ("vendor_id", name, sizeof(name)))
		check_say(CHECK_UNKNOWN, "processor", "not all CPUs are of one "
			  "vendor");
	else if (strcmp(name, "GenuineIntel") && strcmp(name, "AuthenticAMD"))
		check_say(CHECK_UNKNOWN, "processor", "'%s': written for "
			  "Intel's and AMD's, tried on no other", name);
	else
		check_say(CHECK_GOOD, "processor", "%s", name);
	if (check_flag("pdpe1gb"))
		check_say(CHECK_GOOD, "1 GiB pages", "the CPUs have them");
	else
		check_say(CHECK_STOPS, "1 GiB pages", MIOS_REFUSAL_PAGES
			  ": a virtual machine may have the flag pdpe1gb");
}

static void hypervisor(void)
{
	unsigned int eax, words[4] = { };

	if (!check_flag("hypervisor")) {
		check_say(CHECK_UNKNOWN, "hypervisor", "none: nothing has run "
			  "on hardware yet (docs/limits.md)");
		return;
	}
	__cpuid(0x40000000, eax, words[0], words[1], words[2]);
	if (!strcmp((char *)words, "TCGTCGTCGTCG"))
		check_say(CHECK_GOOD, "hypervisor", "QEMU's emulation");
	else
		check_say(CHECK_UNKNOWN, "hypervisor", "'%.12s': only QEMU's "
			  "emulation has been tried at length", (char *)words);
}

/* A TSC that is unstable is no clock source, and so not in the list. */
static void tsc(void)
{
	char current[64] = "", list[256] = "";

	check_read(CLOCK_DIR "/current_clocksource", current, sizeof(current));
	if (!check_read(CLOCK_DIR "/available_clocksource", list,
			sizeof(list)))
		check_say(CHECK_UNKNOWN, "TSC", CLOCK_DIR " is not there");
	else if (!strstr(list, "tsc"))
		check_say(CHECK_STOPS, "TSC", MIOS_REFUSAL_TSC
			  ": boot without tsc=unstable, dmesg says why it is");
	else if (strncmp(current, "tsc", 3))
		check_say(CHECK_UNKNOWN, "TSC", "this kernel could take it for "
			  "its clock, and takes %s", current);
	else
		check_say(CHECK_GOOD, "TSC", "it is this kernel's clock");
	if (check_flag("constant_tsc") && check_flag("nonstop_tsc"))
		check_say(CHECK_GOOD, "invariant TSC", "the CPUs say so");
	else
		check_say(CHECK_UNKNOWN, "invariant TSC", "the CPUs do not say "
			  "that it never stops or changes its rate; instances "
			  "rely on it");
}

/* A kernel that encrypts says "sme"; older ones also where they only could. */
static void encryption(void)
{
	unsigned long long sev = 0;
	unsigned int eax = 0, ebx, ecx, edx;
	bool seen = check_msr(MSR_AMD64_SEV, &sev);
	char value[16] = "";

	check_word("mem_encrypt=", value, sizeof(value));
	__get_cpuid(0x8000001f, &eax, &ebx, &ecx, &edx);
	if (check_flag("tdx_guest") || sev & 1)
		check_say(CHECK_STOPS, "encrypted memory", MIOS_REFUSAL_GUEST
			  ": take a machine type that is not confidential");
	else if (check_flag("tdx_host_platform"))
		check_say(CHECK_STOPS, "encrypted memory", MIOS_REFUSAL_TDX);
	else if (check_flag("sme") && !strcmp(value, "on"))
		check_say(CHECK_STOPS, "encrypted memory", MIOS_REFUSAL_SME);
	else if (check_flag("sme") && strcmp(value, "off"))
		check_say(CHECK_UNKNOWN, "encrypted memory", "SME may be on: "
			  "boot with mem_encrypt=off");
	else if (!seen && eax & 2 && check_flag("hypervisor"))
		check_say(CHECK_UNKNOWN, "encrypted memory", "it may be a "
			  "guest of SEV: as root with the module msr it can "
			  "be seen");
	else
		check_say(CHECK_GOOD, "encrypted memory", "none");
}

static void apic(void)
{
	unsigned long long base;
	bool seen = check_msr(MSR_APIC_BASE, &base);

	if (seen ? !(base & X2APIC_ENABLED) : !check_flag("x2apic"))
		check_say(CHECK_GOOD, "APIC", "xAPIC mode, numbers up to 254");
	else if (seen)
		check_say(CHECK_UNKNOWN, "APIC", "x2APIC mode: the code for it "
			  "has never run; nox2apic avoids it where no number is "
			  "above 254");
	else
		check_say(CHECK_UNKNOWN, "APIC", "the CPUs have x2APIC; as root "
			  "with the module msr it can be seen whether it is on");
}

static void online_cpus(void)
{
	char present[1024] = "", online[1024] = "";

	check_read(CPU_DIR "/present", present, sizeof(present));
	check_read(CPU_DIR "/online", online, sizeof(online));
	if (check_any_up())
		check_say(CHECK_GOOD, "CPUs", "%s, instances have the others",
			  online);
	else if (strcmp(present, online))
		check_say(CHECK_PART, "CPUs", "%s are online, of %s: no instance "
			  "gets the others", online, present);
	else
		check_say(CHECK_GOOD, "CPUs", "%s, all online", online);
}

static void microcode(void)
{
	char first[64];
	int others = check_differ("microcode", first, sizeof(first));

	if (!first[0])
		check_say(CHECK_UNKNOWN, "microcode", "not told");
	else if (others)
		check_say(CHECK_UNKNOWN, "microcode", "%d CPUs have another "
			  "than the first (%s): have instance 0 load it early",
			  others, first);
	else
		check_say(CHECK_GOOD, "microcode", "%s on all CPUs", first);
}

static void threads(void)
{
	char active[8] = "";

	if (!check_read(CPU_DIR "/smt/active", active, sizeof(active)))
		check_say(CHECK_UNKNOWN, "threads", "not told");
	else if (active[0] == '1')
		check_say(CHECK_GOOD, "threads", "cores have several; mios "
			  "reserve --split keeps them together");
	else
		check_say(CHECK_GOOD, "threads", "one each core");
}

static size_t files(const char *pattern)
{
	glob_t found = { };
	size_t nr = glob(pattern, 0, NULL, &found) ? 0 : found.gl_pathc;

	globfree(&found);
	return nr;
}

static void machine_check(void)
{
	size_t cpus = files("/sys/devices/system/machinecheck/machinecheck*");
	size_t banks = files("/sys/devices/system/machinecheck/*/bank*");

	if (!cpus)
		check_say(CHECK_PART, "machine checks", "this kernel takes "
			  "none: the first one shuts the machine down; it wants "
			  "CONFIG_X86_MCE, and no mce=off");
	else if (banks % cpus)
		check_say(CHECK_UNKNOWN, "machine checks", "not all CPUs have "
			  "as many banks");
	else
		check_say(CHECK_GOOD, "machine checks", "%zu banks each CPU",
			  banks / cpus);
}

static void resctrl(void)
{
	if (check_flag("cat_l3") || check_flag("mba"))
		check_say(CHECK_PART, "resctrl", "there, but not split between "
			  "instances: cache and bandwidth are shared");
	else
		check_say(CHECK_PART, "resctrl", "not there: instances of one "
			  "package share its cache and bandwidth");
}

void check_cpu(void)
{
	vendor();
	hypervisor();
	tsc();
	encryption();
	apic();
	online_cpus();
	microcode();
	threads();
	machine_check();
	resctrl();
}
