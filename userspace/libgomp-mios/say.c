// SPDX-License-Identifier: GPL-2.0
/*
 * What a program has us print: where its members are, its settings, and the
 * texts of error directives.
 */
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
	case 7:
		return omp_get_num_teams();
	default:
		return 0;
	}
}

/* A field of one letter, or of a name in braces; its end is returned. */
static const char *print_field(FILE *f, const char *p)
{
	static const char * const names[] = {
		"n", "thread_num", "N", "num_threads", "L", "nesting_level",
		"a", "ancestor_tnum", "H", "host", "P", "process_id",
		"t", "team_num", "T", "num_teams", "A", "thread_affinity",
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
		fprintf(f, "%s", host);
	else if (i == 8)
		fprintf(f, "place %d", omp_get_place_num());
	else
		fprintf(f, "%d", number_of_field(i));
	return end;
}

/* Widths, and whether there are zeroes before a number, are left out. */
static size_t capture(char *buffer, size_t size, const char *text)
{
	char *line = NULL;
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
		text += 1 + strspn(text + 1, "0.123456789");
		text = *text ? print_field(f, text) : text;
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

void omp_display_env(int verbose)
{
	fprintf(stderr, "OPENMP DISPLAY ENVIRONMENT BEGIN\n"
		"  _OPENMP = '201511'\n  OMP_NUM_THREADS = '%d'\n"
		"  OMP_DYNAMIC = '%s'\n  OMP_MAX_ACTIVE_LEVELS = '%d'\n"
		"  OMP_CANCELLATION = '%s'\n"
		"OPENMP DISPLAY ENVIRONMENT END\n", omp_get_max_threads(),
		omp_get_dynamic() ? "TRUE" : "FALSE",
		omp_get_max_active_levels(),
		omp_get_cancellation() ? "TRUE" : "FALSE");
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

void GOMP_warning(const char *text, size_t len)
{
	fprintf(stderr, "libgomp: warning directive encountered%s%.*s\n",
		text ? ": " : "", text ? (int)len : 0, text ? text : "");
}

void GOMP_error(const char *text, size_t len)
{
	fprintf(stderr, "libgomp: error directive encountered%s%.*s\n",
		text ? ": " : "", text ? (int)len : 0, text ? text : "");
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

void omp_display_env_(const int32_t *verbose)
{
	omp_display_env(*verbose);
}

void omp_display_env_8_(const int64_t *verbose)
{
	omp_display_env(*verbose);
}

int32_t omp_pause_resource_(const int32_t *kind, const int32_t *device)
{
	return omp_pause_resource(*kind, *device);
}

int32_t omp_pause_resource_all_(const int32_t *kind)
{
	return omp_pause_resource_all(*kind);
}
