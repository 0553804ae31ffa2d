// SPDX-License-Identifier: GPL-2.0
/*
 * An MPI program's tasks find each other by the launcher of its own library:
 * started by anybody else each is a world of one.  So mios run looks whether
 * the program is linked with an MPI library, and if it is Open MPI's, starts
 * mpirun with the placement that it has decided.  A static program and a
 * script look like any other, unless --mpi says what they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foreground.h"
#include "libmios/client.h"
#include "run_mpi.h"

#define WHO	"mios: run"
#define STATUS	125

/* As execvp() looks for it; -1 if it is not there to be read. */
int open_program(const char *name)
{
	const char *dir = getenv("PATH"), *end;
	char path[4096];
	int fd;

	if (strchr(name, '/'))
		return open(name, O_RDONLY | O_CLOEXEC);
	for (; dir; dir = *end ? end + 1 : NULL) {
		end = dir + strcspn(dir, ":");
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - dir), dir,
			 end == dir ? "" : "/", name);
		fd = access(path, X_OK) ? -1 :
			open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

/* libmpi.so.40, libmpi_mpifh.so.40, libmpich.so.12 */
static bool is_mpi(const char *library)
{
	return library && !strncmp(library, "libmpi", 6) &&
	       strchr("._cf", library[6]);
}

/* The first such library of a dynamic section, or NULL. */
static const char *find_needed(Elf *elf, Elf_Scn *section,
			       bool (*is_such)(const char *library))
{
	const char *library;
	GElf_Shdr head;
	Elf_Data *data;
	GElf_Dyn dyn;
	int i;

	data = elf_getdata(section, NULL);
	if (!data || !gelf_getshdr(section, &head))
		return NULL;
	for (i = 0; gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag != DT_NEEDED)
			continue;
		library = elf_strptr(elf, head.sh_link, dyn.d_un.d_val);
		if (is_such(library))
			return library;
	}
	return NULL;
}

/* Is @program linked with such a library?  Then its name is in @library. */
bool program_needs(const char *program, bool (*is_such)(const char *library),
		   char *library, size_t size)
{
	const char *found = NULL;
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	Elf *elf;
	int fd;

	fd = open_program(program);
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (!found && elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) &&
		    head.sh_type == SHT_DYNAMIC)
			found = find_needed(elf, section, is_such);
	if (found)
		snprintf(library, size, "%s", found);
	elf_end(elf);
	close(fd);
	return found;
}

bool mpi_program(const char *program, char *library, size_t size)
{
	return program_needs(program, is_mpi, library, size);
}

/* What can be told before it fails in a way that is hard to understand. */
static int check(const struct mpi_job *job, const char *library)
{
	if (strstr(library, "mpich") || strstr(library, ".so.12")) {
		mios_error(WHO, "%s needs %s, which is not Open MPI's: start "
			   "it by the mpiexec of that library, with the hosts "
			   "of /run/mios/hostfile", job->argv[0], library);
		return -EINVAL;
	}
	if (job->foreign) {
		mios_error(WHO, "%s is an MPI program, and mpirun reaches its "
			   "own ring only: start it on a member of that ring "
			   "(mios exec N -- mios run ...)", job->argv[0]);
		return -EINVAL;
	}
	return 0;
}

/* node1:2,node3:2 */
static char *hosts(const struct mpi_job *job)
{
	const struct placement *p;
	size_t len = 0, size;
	char *text;

	size = job->nr_places * sizeof("node00:0000000000,") + 1;
	text = calloc(1, size);
	for (p = job->places; text && p < job->places + job->nr_places; p++)
		if (p->tasks)
			len += snprintf(text + len, size - len, "%snode%d:%u",
					len ? "," : "", p->inst->id, p->tasks);
	return text;
}

/* Its words, to be freed; NULL if there is no memory. */
static char **command(const struct mpi_job *job)
{
	static char number[16], map[48];
	const char * const words[] = {
		"mpirun", "-n", number, "--host", hosts(job), "--map-by", map,
		"--bind-to", job->bind ? "core" : "none",
		job->label ? "--tag-output" : NULL,
		geteuid() ? NULL : "--allow-run-as-root",
	};
	size_t i, n = 0, count = sizeof(words) / sizeof(words[0]);
	char **argv;

	for (i = 0; job->argv[i]; i++)
		;
	argv = calloc(count + i + 1, sizeof(*argv));
	if (!argv || !words[4])
		return NULL;
	snprintf(number, sizeof(number), "%u", job->tasks);
	snprintf(map, sizeof(map), "slot%s", job->oversubscribe ?
		 ":OVERSUBSCRIBE" : "");
	if (job->bind && job->cpus > 1)
		snprintf(map, sizeof(map), "slot:PE=%u", job->cpus);
	for (i = 0; i < count; i++)
		if (words[i])
			argv[n++] = (char *)words[i];
	for (i = 0; job->argv[i]; i++)
		argv[n++] = job->argv[i];
	return argv;
}

/* NULL: it is up, and has been since. */
static const char *lost(struct mios_watch *w)
{
	const char *why = watch_lost(w);
	struct mios_instance inst;

	if (why || w->instance == mios_self())
		return why;
	if (!mios_instance_read(w->instance, &inst) &&
	    inst.state == MIOS_STATE_UP)
		return NULL;
	return "is ending";
}

static bool is_used(const struct mpi_job *job, int place)
{
	const struct placement *p = &job->places[place];

	return p->tasks || job->parts & 1ull << p->inst->id;
}

/*
 * The mpirun of Open MPI 5 ends with success, whatever its ranks have done, when
 * it has lost an instance.
 */
static int judge(const struct mpi_job *job, struct mios_watch *watches,
		 int status)
{
	const char *why;
	int i, found = 0;

	for (i = 0; i < job->nr_places; i++) {
		why = is_used(job, i) ? lost(&watches[i]) : NULL;
		if (!why)
			continue;
		mios_error(WHO, "instance %d %s: the job has ended with it "
			   "(mios log %d tells more)", watches[i].instance,
			   why, watches[i].instance);
		found = STATUS;
	}
	if (found)
		return found;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
	       WEXITSTATUS(status);
}

/* Runs mpirun; returns the exit status. */
int mpi_run(const struct mpi_job *job, const char *library)
{
	static struct mios_watch watches[MIOS_MAX_INSTANCES];
	int i, err, status;
	char **argv;

	if (check(job, library))
		return STATUS;
	argv = command(job);
	if (!argv) {
		mios_error(WHO, "no memory left");
		return STATUS;
	}
	for (i = 0; i < job->nr_places; i++)
		if (is_used(job, i))
			watch_open(&watches[i], job->places[i].inst->id);
	err = foreground_run(argv, &status);
	if (!err)
		return judge(job, watches, status);
	mios_error(WHO, "%s is an MPI program (%s), and mpirun, which starts "
		   "such, does not run here: %s", job->argv[0], library,
		   strerror(-err));
	return STATUS;
}
