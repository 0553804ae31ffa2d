// SPDX-License-Identifier: GPL-2.0
/*
 * What a program has us print: where its members are, its settings, and the
 * texts of error directives.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api.h"
#include "gomp.h"

#define FORMAT_SIZE	256

static char format[FORMAT_SIZE] = "level %L thread %n of %N, process %P on %H";

static void set_format(const char *text, size_t len)
{
	if (len >= sizeof(format))
		len = sizeof(format) - 1;
	memcpy(format, text, len);
	format[len] = '\0';
}

const char *affinity_format(void)
{
	return format;
}

void affinity_start(void)
{
	const char *text = getenv("OMP_AFFINITY_FORMAT");

	if (text)
		set_format(text, strlen(text));
}

/* The fields that are numbers, as print_field() has them. */
static int number_of_field(size_t i)
{
	switch (i) {
	case 0:
		return omp_get_thread_num();
	case 1:
		return omp_get_num_threads();
	case 2:
		return omp_get_level();
	case 3:
		return omp_get_ancestor_thread_num(omp_get_level() - 1);
	case 5:
		return getpid();
	case 6:
		return icvs()->team;
	case 7:
		return icvs()->nr_teams;
	case 9:
		return gettid();
	default:
		return 0;
	}
}

/* How a field is filled up to its width: %[[0].]WIDTH before its letter. */
struct filling {
	bool zero, right;
	int width;
};

static const char *read_filling(struct filling *fill, const char *p)
{
	fill->zero = *p == '0';
	p += fill->zero;
	fill->right = *p == '.';
	p += fill->right;
	for (fill->width = 0; *p >= '0' && *p <= '9'; p++)
		if (fill->width < FORMAT_SIZE)
			fill->width = fill->width * 10 + *p - '0';
	return p;
}

static void print_text(FILE *f, const struct filling *fill, const char *text)
{
	fprintf(f, "%*s", fill->right ? fill->width : -fill->width, text);
}

static void print_number(FILE *f, const struct filling *fill, int n)
{
	char text[16];

	if (fill->zero) {
		fprintf(f, "%0*d", fill->width, n);
		return;
	}
	snprintf(text, sizeof(text), "%d", n);
	print_text(f, fill, text);
}

/* The CPUs that this thread may run on, as its instance has them: 0-3,6 */
static void print_cpus(FILE *f, const struct filling *fill)
{
	char text[FORMAT_SIZE] = "";
	size_t len = 0;
	cpu_set_t cpus;
	int i, first;

	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (i = 0; i < CPU_SETSIZE && len < sizeof(text); i++) {
		if (!CPU_ISSET(i, &cpus))
			continue;
		for (first = i; i + 1 < CPU_SETSIZE && CPU_ISSET(i + 1, &cpus);)
			i++;
		len += snprintf(text + len, sizeof(text) - len,
				first == i ? "%s%d" : "%s%d-%d",
				len ? "," : "", first, i);
	}
	print_text(f, fill, text);
}

/* A field of one letter, or of a name in braces; its end is returned. */
static const char *print_field(FILE *f, const struct filling *fill,
			       const char *p)
{
	static const char * const names[] = {
		"n", "thread_num", "N", "num_threads", "L", "nesting_level",
		"a", "ancestor_tnum", "H", "host", "P", "process_id",
		"t", "team_num", "T", "num_teams", "A", "thread_affinity",
		"i", "native_thread_id",
	};
	size_t len = 1, i, n = sizeof(names) / sizeof(names[0]);
	const char *end = p + 1;
	char host[64] = "";

	if (*p == '{') {
		p++;
		len = strcspn(p, "}");
		end = p + len + (p[len] == '}');
	}
	for (i = 0; i < n; i++)
		if (strlen(names[i]) == len && !strncmp(names[i], p, len))
			break;
	gethostname(host, sizeof(host) - 1);
	i /= 2;
	if (i == 4)
		print_text(f, fill, host);
	else if (i == 8)
		print_cpus(f, fill);
	else
		print_number(f, fill, number_of_field(i));
	return end;
}

static size_t capture(char *buffer, size_t size, const char *text)
{
	char *line = NULL;
	struct filling fill;
	size_t len = 0, copied;
	FILE *f = open_memstream(&line, &len);

	if (!f)
		return 0;
	for (text = *text ? text : format; *text;) {
		if (*text != '%' || text[1] == '%') {
			text += *text == '%';
			fputc(*text++, f);
			continue;
		}
		text = read_filling(&fill, text + 1);
		text = *text ? print_field(f, &fill, text) : text;
	}
	fclose(f);
	copied = !size ? 0 : len < size ? len : size - 1;
	memcpy(buffer, line, copied);
	if (size)
		buffer[copied] = '\0';
	free(line);
	return len;
}

void omp_set_affinity_format(const char *text)
{
	set_format(text, strlen(text));
}

size_t omp_get_affinity_format(char *buffer, size_t size)
{
	if (size)
		snprintf(buffer, size, "%s", format);
	return strlen(format);
}

size_t omp_capture_affinity(char *buffer, size_t size, const char *text)
{
	return capture(buffer, size, text ? text : "");
}

void omp_display_affinity(const char *text)
{
	char line[FORMAT_SIZE * 2];

	capture(line, sizeof(line), text ? text : "");
	fprintf(stderr, "%s\n", line);
}

/* There is nothing to give back: 0 is success. */
int omp_pause_resource(int kind, int device)
{
	return 0;
}

int omp_pause_resource_all(int kind)
{
	return 0;
}

/* In libgomp's words. */
static void say_error(const char *how, const char *text, size_t len)
{
	fprintf(stderr, "\nlibgomp: %serror directive encountered%s%.*s\n", how,
		text ? ": " : "", text ? (int)len : 0, text ? text : "");
}

void GOMP_warning(const char *text, size_t len)
{
	say_error("", text, len);
}

void GOMP_error(const char *text, size_t len)
{
	say_error("fatal error: ", text, len);
	exit(1);
}

/* Fortran's: texts have a length, and are filled up with blanks. */

static void fill_up(char *buffer, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (len > size)
		len = size;
	memcpy(buffer, text, len);
	memset(buffer + len, ' ', size - len);
}

void omp_set_affinity_format_(const char *text, size_t len)
{
	set_format(text, len);
}

int32_t omp_get_affinity_format_(char *buffer, size_t size)
{
	fill_up(buffer, size, format);
	return strlen(format);
}

int32_t omp_capture_affinity_(char *buffer, const char *text, size_t size,
			      size_t len)
{
	char line[FORMAT_SIZE * 2], own[FORMAT_SIZE];
	size_t all;

	snprintf(own, sizeof(own), "%.*s", (int)len, text);
	all = capture(line, sizeof(line), own);
	fill_up(buffer, size, line);
	return all;
}

void omp_display_affinity_(const char *text, size_t len)
{
	char own[FORMAT_SIZE];

	snprintf(own, sizeof(own), "%.*s", (int)len, text);
	omp_display_affinity(own);
}

int32_t omp_pause_resource_(const int32_t *kind, const int32_t *device)
{
	return omp_pause_resource(*kind, *device);
}

int32_t omp_pause_resource_all_(const int32_t *kind)
{
	return omp_pause_resource_all(*kind);
}
