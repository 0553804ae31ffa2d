// SPDX-License-Identifier: GPL-2.0
/*
 * libmios-mpi.so, preloaded into the ranks of an MPI job by mios-rank: MPI
 * libraries ask PMIx which ranks are on their own node, and use shared memory
 * among those.  Here the instances of a ring are one node, as /dev/shm is one
 * for all of them.  All that is about starting ranks, such as the daemons, the
 * mapping and the binding, stays by instance.
 *
 * Only a job's questions about itself get another answer, and only when PMIx
 * has one.  The answer is computed once; PMIx asks itself meanwhile, and so
 * comes by here: such questions are handed on.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix.h"

#define HOST_NAME	"/etc/mios/host"	/* instance 0's */
#define SELF		"/sys/kernel/mios/self"
#define SHARING		"/mios/.shm/%ld"	/* is there if instance N shares */
#define NAME_SIZE	256

typedef int (*get_fn)(const struct pmix_proc *proc, const char *key,
		      const struct pmix_info *info, size_t ninfo,
		      struct pmix_value **value);
typedef int (*put_fn)(uint8_t scope, const char *key,
		      struct pmix_value *value);

/*
 * @rank: those on instances that share, in order; none: nothing is to be said.
 * @here: is it on this instance?
 */
static struct {
	char nspace[NAME_SIZE];
	uint32_t self;
	struct peer {
		uint32_t rank;
		bool here;
	} *peer;
	size_t count;
} job;

static __thread bool asking;

/* From the library that is there, whoever has loaded it and for whom. */
static void *real(const char *name)
{
	void *library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
	void *address = library ? dlsym(library, name) : NULL;

	if (library)
		dlclose(library);
	return address ? address : dlsym(RTLD_NEXT, name);
}

/* The first line of a file. */
static void read_word(const char *path, char *word)
{
	FILE *f = fopen(path, "re");

	word[0] = '\0';
	if (!f)
		return;
	if (fgets(word, NAME_SIZE, f))
		word[strcspn(word, "\n")] = '\0';
	fclose(f);
}

/* Up to the first dot, as launchers have names. */
static bool is_name(const char *name, const char *of)
{
	size_t len = strcspn(of, ".");

	return len && strcspn(name, ".") == len && !strncmp(name, of, len);
}

/* Which instance of the ring is it?  -1: none. */
static long instance_of(const char *node)
{
	char own[NAME_SIZE] = "", word[NAME_SIZE], *end;
	long id;

	gethostname(own, sizeof(own) - 1);
	if (is_name(node, own)) {
		read_word(SELF, word);
		return word[0] ? strtol(word, NULL, 10) : -1;
	}
	read_word(HOST_NAME, word);
	if (is_name(node, word))
		return 0;
	if (strncmp(node, "node", 4) || node[4] < '0' || node[4] > '9')
		return -1;
	id = strtol(node + 4, &end, 10);
	return *end ? -1 : id;
}

/* Is its /dev/shm the ring's? */
static bool is_sharing(const char *node)
{
	long id = instance_of(node);
	char path[64];

	snprintf(path, sizeof(path), SHARING, id);
	return id >= 0 && !access(path, F_OK);
}

/*
 * The name of the node that a rank is on; from what this process has.  What has
 * to ask the server, as PMIx_Resolve_peers() has for other nodes, hangs in PMIx
 * 4.2 when mpirun's own node has no rank.
 */
static bool node_of(get_fn get, uint32_t rank, char *node)
{
	struct pmix_info optional = {
		.key = PMIX_OPTIONAL,
		.value = { .type = PMIX_BOOL, .data.flag = true },
	};
	struct pmix_proc proc = { .rank = rank };
	struct pmix_value *value = NULL;
	bool found;

	strcpy(proc.nspace, job.nspace);
	if (get(&proc, PMIX_HOSTNAME, &optional, 1, &value) || !value)
		return false;
	found = value->type == PMIX_STRING && value->data.string;
	if (found) {
		snprintf(node, NAME_SIZE, "%s", value->data.string);
		free(value->data.string);
	}
	free(value);
	return found;
}

static bool find_peers(uint32_t size)
{
	char own[NAME_SIZE], node[NAME_SIZE], last[NAME_SIZE] = "";
	get_fn get = (get_fn)real("PMIx_Get");
	bool sharing = false;
	uint32_t rank;

	job.peer = calloc(size, sizeof(*job.peer));
	if (!job.peer || !get || !node_of(get, job.self, own))
		return false;
	for (rank = 0; rank < size; rank++) {
		if (!node_of(get, rank, node))
			return false;
		if (strcmp(node, last))
			sharing = is_sharing(node);
		strcpy(last, node);
		if (sharing)
			job.peer[job.count++] = (struct peer){
				rank, !strcmp(node, own)
			};
	}
	return true;
}

static int by_rank(const void *a, const void *b)
{
	const struct peer *p = a, *q = b;

	return p->rank < q->rank ? -1 : p->rank > q->rank;
}

static const struct peer *peer_of(uint32_t rank)
{
	const struct peer key = { .rank = rank };

	return bsearch(&key, job.peer, job.count, sizeof(key), by_rank);
}

static void learn(void)
{
	const char *nspace = getenv("PMIX_NAMESPACE");
	const char *rank = getenv("PMIX_RANK");
	const char *size = getenv("OMPI_COMM_WORLD_SIZE");

	if (!nspace || !rank || !size || strlen(nspace) >= sizeof(job.nspace))
		return;
	strcpy(job.nspace, nspace);
	job.self = strtoul(rank, NULL, 10);
	if (!find_peers(strtoul(size, NULL, 10)) || !peer_of(job.self))
		job.count = 0;
}

static bool is_known(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	asking = true;
	pthread_once(&once, learn);
	asking = false;
	return job.count;
}

static void put_list(struct pmix_value *value)
{
	char *text = malloc(job.count * sizeof("4294967295") + 1);
	size_t i, len = 0;

	if (!text)
		return;
	for (i = 0; i < job.count; i++)
		len += sprintf(text + len, "%s%u", i ? "," : "",
			       job.peer[i].rank);
	free(value->data.string);
	value->data.string = text;
}

/* What PMIx has said about this job, for a ring that is one node. */
static void amend(const struct pmix_proc *proc, const char *key,
		  struct pmix_value *value)
{
	if (!strcmp(key, PMIX_LOCAL_PEERS) && value->type == PMIX_STRING)
		put_list(value);
	else if (!strcmp(key, PMIX_LOCAL_SIZE) && value->type == PMIX_UINT32)
		value->data.uint32 = job.count;
	else if (!strcmp(key, PMIX_LOCAL_RANK) && value->type == PMIX_UINT16 &&
		 peer_of(proc->rank))
		value->data.uint16 = peer_of(proc->rank) - job.peer;
}

/* Cores of another instance are none of this one's, whatever their numbers. */
static bool is_far(const struct pmix_proc *proc, const char *key)
{
	const struct peer *peer = peer_of(proc->rank);

	return !strcmp(key, PMIX_LOCALITY_STRING) && peer && !peer->here;
}

static bool is_ours(const struct pmix_proc *proc, const char *key)
{
	static const char * const keys[] = {
		PMIX_LOCAL_PEERS, PMIX_LOCAL_SIZE, PMIX_LOCAL_RANK,
		PMIX_LOCALITY_STRING
	};
	size_t i;

	if (asking || !proc || !key)
		return false;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i]))
			return is_known() && !strcmp(proc->nspace, job.nspace);
	return false;
}

/*
 * Open MPI 5 looks for what a rank on its own node has put in what has come from
 * there alone.  What one on another instance has put has to be fetched: it has
 * been published by then, and so nobody waits for it.
 */
static bool has_to_be_fetched(const struct pmix_proc *proc, const char *key)
{
	const struct peer *peer;

	if (asking || !proc || !key || !strncmp(key, PMIX_OWN, strlen(PMIX_OWN)) ||
	    !is_known() || strcmp(proc->nspace, job.nspace))
		return false;
	peer = peer_of(proc->rank);
	return peer && !peer->here;
}

__attribute__((visibility("default")))
int PMIx_Get(const struct pmix_proc *proc, const char *key,
	     const struct pmix_info *info, size_t ninfo,
	     struct pmix_value **value)
{
	get_fn get = (get_fn)real("PMIx_Get");
	bool ours = is_ours(proc, key);
	int err;

	if (!get || (ours && is_far(proc, key)))
		return PMIX_ERR_NOT_FOUND;
	err = get(proc, key, info, ninfo, value);
	if (err == PMIX_ERR_NOT_FOUND && ninfo && has_to_be_fetched(proc, key))
		err = get(proc, key, NULL, 0, value);
	if (ours && !err && value && *value)
		amend(proc, key, *value);
	return err;
}

/* What is meant for one's own node has to leave the instance now. */
__attribute__((visibility("default")))
int PMIx_Put(uint8_t scope, const char *key, struct pmix_value *value)
{
	put_fn put = (put_fn)real("PMIx_Put");

	if (!put)
		return PMIX_ERR_NOT_FOUND;
	if (scope == PMIX_LOCAL && !asking && is_known())
		scope = PMIX_GLOBAL;
	return put(scope, key, value);
}
