// SPDX-License-Identifier: GPL-2.0
/*
 * The settings, as OMP_DISPLAY_ENV and omp_display_env() show them: those of the
 * team as they are, under the names and in the order that libgomp has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "api.h"
#include "gomp.h"

static FILE *out;

static void say_text(const char *name, const char *text)
{
	fprintf(out, "  %s = '%s'\n", name, text);
}

static void say_number(const char *name, unsigned long n)
{
	fprintf(out, "  %s = '%lu'\n", name, n);
}

static void say_switch(const char *name, bool on)
{
	say_text(name, on ? "TRUE" : "FALSE");
}

static void say_threads(void)
{
	int i;

	fprintf(out, "  OMP_NUM_THREADS = '%d", settings->threads ?
		(int)settings->threads : omp_get_num_procs());
	for (i = 0; i < OMP_LEVELS && settings->inner[i]; i++)
		fprintf(out, ",%u", settings->inner[i]);
	fprintf(out, "'\n");
}

/* The size of a chunk is left out where it is what nobody has asked for. */
static void say_schedule(void)
{
	static const char * const kinds[] = {
		[STATIC] = "STATIC", [DYNAMIC] = "DYNAMIC",
		[GUIDED] = "GUIDED", [AUTO] = "AUTO",
	};

	fprintf(out, "  OMP_SCHEDULE = '%s", kinds[settings->schedule]);
	if (settings->chunk > (settings->schedule == STATIC ? 0 : 1))
		fprintf(out, ",%lu", (unsigned long)settings->chunk);
	fprintf(out, "'\n");
}

static void say_bind(void)
{
	static const char * const words[] = {
		"FALSE", "TRUE", "MASTER", "CLOSE", "SPREAD",
	};

	say_text("OMP_PROC_BIND", words[omp_get_proc_bind()]);
}

static void say_team(void)
{
	say_switch("OMP_DYNAMIC", settings->dynamic);
	say_switch("OMP_NESTED", omp_get_nested());
	say_threads();
	say_schedule();
	say_bind();
	places_say(out);
	if (gomp_window)
		say_number("OMP_STACKSIZE", gomp_window->stack_size);
	say_text("OMP_WAIT_POLICY", mios_omp_spins ? "ACTIVE" : "PASSIVE");
	say_number("OMP_THREAD_LIMIT", omp_get_thread_limit());
	say_number("OMP_MAX_ACTIVE_LEVELS", settings->max_active);
	say_number("OMP_NUM_TEAMS", omp_get_max_teams());
	say_number("OMP_TEAMS_THREAD_LIMIT", omp_get_teams_thread_limit());
}

void omp_display_env(int verbose)
{
	char *text = NULL;
	size_t len = 0;

	out = open_memstream(&text, &len);
	if (!out)
		return;
	fprintf(out, "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n");
	say_text("_OPENMP", "201511");
	say_team();
	say_switch("OMP_CANCELLATION", settings->cancellation);
	say_number("OMP_DEFAULT_DEVICE", omp_get_default_device());
	say_number("OMP_MAX_TASK_PRIORITY", settings->max_priority);
	say_switch("OMP_DISPLAY_AFFINITY", settings->show_affinity);
	say_text("OMP_AFFINITY_FORMAT", affinity_format());
	say_text("OMP_ALLOCATOR", allocator_name(settings->allocator));
	say_text("OMP_TARGET_OFFLOAD", settings->must_offload ? "MANDATORY" :
		 settings->no_offload ? "DISABLED" : "DEFAULT");
	if (verbose)
		say_number("GOMP_SPINCOUNT", mios_omp_spins);
	fprintf(out, "OPENMP DISPLAY ENVIRONMENT END\n");
	fclose(out);
	write(STDERR_FILENO, text, len);
	free(text);
}

/* By the first process, once it knows its team. */
void display_start(void)
{
	const char *text = getenv("OMP_DISPLAY_ENV");
	bool verbose = text && !strcasecmp(text, "verbose");

	if (verbose || setting_is_true("OMP_DISPLAY_ENV"))
		omp_display_env(verbose);
}

void omp_display_env_(const int32_t *verbose)
{
	omp_display_env(*verbose);
}

void omp_display_env_8_(const int64_t *verbose)
{
	omp_display_env(*verbose);
}
