// SPDX-License-Identifier: GPL-2.0
/*
 * mios slurm-conf: the files with which Slurm runs jobs on the instances of this
 * machine, from what the kernels say of themselves.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flags.h"
#include "libmios/libmios.h"
#include "subcommands.h"

static const char usage[] =
"Usage: mios slurm-conf [OPTION]\n"
"Prints a slurm.conf in which each instance is a node and each ring a partition.\n\n"
"  -c, --cgroup    print cgroup.conf\n"
"  -t, --topology  print topology.conf\n"
"  -h, --help      print this\n";

/*
 * One file for instances with and without systemd: slurmd makes the groups of jobs
 * itself, beside its own.  With systemd Delegate= of its unit keeps what they are
 * limited by, else its service does (docs/examples/services/slurmd).
 */
static const char cgroup_conf[] =
"# by mios slurm-conf --cgroup\n"
"CgroupPlugin=cgroup/v2\n"
"IgnoreSystemd=yes\n"
"# a job has the CPUs and the memory that it was given\n"
"ConstrainCores=yes\n"
"ConstrainRAMSpace=yes\n";

static const char head[] =
"# by mios slurm-conf: mios-slurm-conf(1) tells what to do with it\n"
"ClusterName=mios\n"
"AuthType=auth/munge\n"
"SlurmUser=slurm\n"
"StateSaveLocation=/var/lib/slurm/slurmctld\n"
"SlurmctldPidFile=/run/slurmctld.pid\n"
"SlurmdPidFile=/run/slurmd.pid\n"
"SlurmdSpoolDir=/var/spool/slurmd\n"
"# mpirun starts its daemons by srun, and its ranks share memory\n"
"MpiDefault=none\n"
"ProctrackType=proctrack/cgroup\n"
"TaskPlugin=task/affinity,task/cgroup\n"
"SelectType=select/cons_tres\n"
"SelectTypeParameters=CR_Core_Memory\n"
"# no message goes through a node, which may be of another ring\n"
"TreeWidth=64\n"
"# one that was booted again is used as soon as its slurmd is there\n"
"ReturnToService=2\n";

static struct mios_instance list[MIOS_MAX_INSTANCES];
static int nr;

/* What a kernel keeps of its node's memory is not Slurm's: it drains what has less. */
static unsigned long long memory_mb(const struct mios_instance *inst)
{
	return (unsigned long long)(inst->memory >> 20) * 7 / 8;
}

/*
 * A job that names no memory has as much for each CPU, on whichever node; without
 * such a line Slurm gives it all memory of its nodes, and no other job runs there.
 */
static unsigned long long memory_per_cpu(void)
{
	unsigned long long each, least = 0;
	int i;

	for (i = 0; i < nr; i++) {
		each = memory_mb(&list[i]) / (list[i].cpus ?: 1);
		if (!least || each < least)
			least = each;
	}
	return least ?: 1;
}

/*
 * Addresses are names, as each instance's /etc/hosts has those of its own ring:
 * a member of another ring reaches instance 0 by another address.
 */
static void print_node(const struct mios_instance *inst, const char *host)
{
	printf("NodeName=node%d ", inst->id);
	if (!inst->id)
		printf("NodeHostname=%s ", host);
	printf("NodeAddr=node%d CPUs=%u RealMemory=%llu\n", inst->id, inst->cpus,
	       memory_mb(inst));
}

/* Instance 0 is in all rings, and a node of the first one that there is. */
static int ring_of(const struct mios_instance *inst)
{
	return inst->id && inst->ring > 0 ? inst->ring : 0;
}

/* "node0,node2", and the end of the line. */
static void print_members(int ring)
{
	int i, n = 0;

	for (i = 0; i < nr; i++)
		if (ring_of(&list[i]) == ring)
			printf("%snode%d", n++ ? "," : "", list[i].id);
	printf("\n");
}

static bool has_members(int ring)
{
	int i;

	for (i = 0; i < nr; i++)
		if (ring_of(&list[i]) == ring)
			return true;
	return false;
}

static void print_slurm(void)
{
	char host[65] = "";
	int i, ring;

	if (gethostname(host, sizeof(host) - 1))
		mios_die(MIOS_EXIT_FAILED, "slurm-conf: gethostname: %m");
	host[strcspn(host, ".")] = '\0';
	printf("%sSlurmctldHost=%s(node0)\n", head, host);
	printf("DefMemPerCPU=%llu\n", memory_per_cpu());
	for (i = 0; i < nr; i++)
		print_node(&list[i], host);
	for (ring = 0; ring < MIOS_MAX_INSTANCES; ring++) {
		if (!has_members(ring))
			continue;
		printf("PartitionName=ring%d Default=%s State=UP Nodes=", ring,
		       ring ? "NO" : "YES");
		print_members(ring);
	}
}

static void print_topology(void)
{
	int ring;

	printf("# by mios slurm-conf --topology; TopologyPlugin=topology/tree\n");
	for (ring = 0; ring < MIOS_MAX_INSTANCES; ring++) {
		if (!has_members(ring))
			continue;
		printf("SwitchName=ring%d Nodes=", ring);
		print_members(ring);
	}
}

int cmd_slurm_conf(int argc, char **argv)
{
	bool cgroup = false, topology = false;
	const struct flag flags[] = {
		{ "cgroup", 'c', &cgroup },
		{ "topology", 't', &topology },
		{ }
	};

	flags_take("slurm-conf", usage, argc, argv, flags);
	if (optind < argc)
		mios_usage("slurm-conf", "it takes no argument, what is "
			   "'%.40s'?", argv[optind]);
	if (cgroup && topology)
		mios_usage("slurm-conf", "one file at a time: --cgroup or "
			   "--topology");
	if (cgroup) {
		printf("%s", cgroup_conf);
		mios_flush_stdout();
		return MIOS_EXIT_OK;
	}
	nr = mios_instances_read(list, MIOS_MAX_INSTANCES);
	if (nr < 0)
		mios_die(MIOS_EXIT_FAILED, "slurm-conf: %s", MIOS_NO_SYSFS);
	if (mios_self())
		mios_die(MIOS_EXIT_FAILED, "slurm-conf: instance 0 is Slurm's "
			 "controller: run it there");
	if (topology)
		print_topology();
	else
		print_slurm();
	mios_flush_stdout();
	return MIOS_EXIT_OK;
}
