// SPDX-License-Identifier: GPL-2.0
/*
 * mios top: load and tasks of every instance, again and again until q or ^C,
 * or once as a table or as JSON.  The load is what heartbeats say (sysfs),
 * the tasks are what each miosd reports.
 */
#include <getopt.h>
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <poll.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "libmios/libmios.h"
#include "libmios/report.h"
#include "subcommands.h"
#include "tty.h"

static const char help[] =
"Usage: mios top [OPTION...]\n"
"Shows load and tasks of every instance, live; q ends it.\n\n"
"  -1, --once           print once\n"
"  -J, --json           print once, for programs\n"
"  -d, --delay SECONDS  between two looks (2)\n"
"  -h, --help           print this\n";

static const struct option options[] = {
	{ "once", no_argument, NULL, '1' },
	{ "json", no_argument, NULL, 'J' },
	{ "delay", required_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static struct libscols_table *table(const char *name, bool json,
				    const char * const *columns,
				    uint64_t numbers)
{
	struct libscols_table *t = scols_new_table();
	struct libscols_column *c;
	int i;

	if (!t)
		mios_die(MIOS_EXIT_FAILED, "top: no memory left");
	scols_table_enable_json(t, json);
	scols_table_set_name(t, name);
	for (i = 0; columns[i]; i++) {
		c = scols_table_new_column(t, columns[i], 0,
					   numbers >> i & 1 ?
					   SCOLS_FL_RIGHT : 0);
		if (!c)
			mios_die(MIOS_EXIT_FAILED, "top: no memory left");
		if (numbers >> i & 1)
			scols_column_set_json_type(c, SCOLS_JSON_NUMBER);
	}
	return t;
}

static void cell(struct libscols_line *line, int column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void cell(struct libscols_line *line, int column, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!line || scols_line_set_data(line, column, text))
		mios_die(MIOS_EXIT_FAILED, "top: no memory left");
}

/* Both tables are members of one JSON object. */
static void print(struct libscols_table *t, bool json, bool last)
{
	if (json) {
		json_table(t);
	} else {
		scols_print_table(t);
		printf(last ? "" : "\n");
	}
	scols_unref_table(t);
}

/* Of what does not run nothing is known: a dash, null in JSON. */
static void show_load(struct libscols_line *line,
		      const struct mios_instance *inst, bool json)
{
	const bool runs = mios_instance_runs(inst);
	const char *none = json ? "" : "-";
	char size[32];
	int i;

	for (i = 0; i < 3; i++)
		if (runs)
			cell(line, 3 + i, "%.2f", inst->load[i]);
		else
			cell(line, 3 + i, "%s", none);
	if (runs)
		cell(line, 6, "%u", inst->runnable);
	else
		cell(line, 6, "%s", none);
	mios_size_text(inst->memory_free, size, sizeof(size));
	if (!inst->memory_free)
		cell(line, 7, "%s", none);
	else if (json)
		cell(line, 7, "%" PRIu64, inst->memory_free);
	else
		cell(line, 7, "%s", size);
}

static void show_instances(const struct mios_instance *list, int n, bool json)
{
	static const char * const words[] = { "INSTANCE", "STATE", "CPUS",
		"LOAD1", "LOAD5", "LOAD15", "RUNNABLE", "FREE", NULL };
	static const char * const names[] = { "instance", "state", "cpus",
		"load1", "load5", "load15", "runnable", "memory_free", NULL };
	struct libscols_table *t = table("instances", json,
					 json ? names : words, 0xfd);
	struct libscols_line *line;
	int i;

	for (i = 0; i < n; i++) {
		line = scols_table_new_line(t, NULL);
		cell(line, 0, "%d", list[i].id);
		cell(line, 1, "%s", mios_state_name(list[i].state));
		cell(line, 2, "%u", list[i].cpus);
		show_load(line, &list[i], json);
	}
	print(t, json, false);
}

static void cpu_list(const uint64_t *cpus, const char *none, char *text,
		     size_t size)
{
	unsigned int cpu;
	size_t len = 0;

	snprintf(text, size, "%s", none);
	for (cpu = 0; cpu < 64 * MIOS_CPU_WORDS && len < size; cpu++)
		if (cpus[cpu / 64] & 1ull << cpu % 64)
			len += snprintf(text + len, size - len, "%s%u",
					len ? "," : "", cpu);
}

static void add_task(struct libscols_table *t, int instance,
		     const struct mios_task *task, bool json)
{
	struct libscols_line *line = scols_table_new_line(t, NULL);
	const struct passwd *pw = getpwuid(task->uid);
	char text[128];

	cell(line, 0, "%d", instance);
	cell(line, 1, "%u", task->pid);
	if (pw)
		cell(line, 2, "%s", pw->pw_name);
	else
		cell(line, 2, "%u", task->uid);
	cell(line, 3, "%u", task->from);
	cpu_list(task->cpus, json ? "" : "-", text, sizeof(text));
	cell(line, 4, "%s", text);
	cell(line, 5, "%u", task->processes);
	cell(line, 6, "%.2f", task->cpu_usec / 1e6);
	cell(line, 7, "%" PRIu64, task->seconds);
	mios_size_text(task->rss, text, sizeof(text));
	if (json)
		cell(line, 8, "%" PRIu64, task->rss);
	else
		cell(line, 8, "%s", text);
	/* another instance's user wrote it; libsmartcols escapes the rest */
	cell(line, 9, "%s", task->command);
}

/* Those whose tasks can be asked for; of the others @missing gets a bit each. */
static unsigned int choose(const struct mios_instance *list, int n,
			   struct task_report *reports, uint64_t *missing)
{
	const int self = mios_self();
	unsigned int nr = 0;
	int i;

	for (i = 0; i < n; i++) {
		if (list[i].id != self && list[i].state != MIOS_STATE_UP)
			continue;
		if (list[i].suspect >= 0) {	/* it would be waited for */
			mios_error("mios", "top: instance %d is suspect: its "
				   "tasks are not known", list[i].id);
			*missing |= 1ull << list[i].id;
			continue;
		}
		reports[nr++].instance = list[i].id;
	}
	return nr;
}

/* Of whom nothing was learnt: a bit each. */
static uint64_t show_tasks(const struct mios_instance *list, int n, bool json)
{
	static const char * const words[] = { "INSTANCE", "PID", "USER",
		"FROM", "CPUS", "PROCS", "CPU-S", "AGE-S", "RSS", "COMMAND",
		NULL };
	static const char * const names[] = { "instance", "pid", "user",
		"from", "cpus", "processes", "cpu_seconds", "seconds", "rss",
		"command", NULL };
	static struct task_report reports[MIOS_MAX_INSTANCES];
	struct libscols_table *t = table("tasks", json, json ? names : words,
					 0x1eb);
	unsigned int i, j, nr;
	uint64_t missing = 0;

	nr = choose(list, n, reports, &missing);
	report_fetch(reports, nr);
	for (i = 0; i < nr; i++) {
		const int instance = reports[i].instance;

		if (reports[i].error) {
			mios_error("mios", "top: %s", reports[i].why);
			missing |= 1ull << instance;
		}
		for (j = 0; j < reports[i].nr_tasks; j++)
			add_task(t, instance, &reports[i].tasks[j], json);
		report_free(&reports[i]);
	}
	print(t, json, true);
	return missing;
}

static void print_missing(uint64_t missing)
{
	const char *before = "";
	int i;

	printf(",\n   \"missing\": [");
	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		if (missing >> i & 1) {
			printf("%s%d", before, i);
			before = ", ";
		}
	}
	printf("]");
}

static int show(bool json)
{
	static struct mios_instance list[MIOS_MAX_INSTANCES];
	int n = mios_instances_read(list, MIOS_MAX_INSTANCES);
	uint64_t missing;

	if (n < 0)
		mios_die(MIOS_EXIT_FAILED, "top: %s", MIOS_NO_SYSFS);
	if (json)
		json_begin();
	show_instances(list, n, json);
	missing = show_tasks(list, n, json);
	if (json) {
		print_missing(missing);
		json_end();
	}
	mios_flush_stdout();
	return missing ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}

static void keys_unseen(struct termios *mode)
{
	mode->c_lflag &= ~(ICANON | ECHO);
}

static void watch(int delay)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	/* Without a terminal to read from it goes on until a signal. */
	if (tty_change(keys_unseen))
		p.fd = -1;
	for (;;) {
		printf("\033[H\033[2J");
		show(false);
		if (poll(&p, 1, delay * 1000) > 0 &&
		    (read(p.fd, &key, 1) != 1 || key == 'q'))
			break;
	}
}

int cmd_top(int argc, char **argv)
{
	bool once = false, json = false;
	long delay = 2;
	int c;

	while ((c = getopt_long(argc, argv, ":1Jd:h", options, NULL)) != -1) {
		switch (c) {
		case '1':
			once = true;
			break;
		case 'J':
			json = once = true;
			break;
		case 'd':
			if (mios_number(optarg, 1, 3600, &delay))
				mios_usage("top", "--delay is a number of "
					   "seconds from 1 to 3600");
			break;
		default:
			mios_other_option("top", help, argv, c, options);
		}
	}
	if (optind < argc)
		mios_usage("top", "it takes no argument, what is '%.40s'?",
			   argv[optind]);
	if (once || !isatty(STDOUT_FILENO))
		return show(json);
	watch(delay);
	return MIOS_EXIT_OK;
}
