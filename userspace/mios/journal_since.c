// SPDX-License-Identifier: GPL-2.0
/*
 * The times that mios journal --since takes: what its lines begin with, in the zone
 * that they name, such times of the zone here, and seconds before now.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "journal.h"
#include "libmios/libmios.h"

#define SINCE_MAX	1e9		/* seconds */
/* Of the forms: how many have seconds, and which has no time. */
#define WITH_SECONDS	2
#define DATE_ONLY	4

/* Since 1970. */
int64_t journal_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

/* ".25": 250000000 ns, and where it ends. */
static int64_t fraction(const char **at)
{
	int64_t ns = 0, digit = NS / 10;

	if (**at != '.')
		return 0;
	while (isdigit((unsigned char)*++*at)) {
		ns += (**at - '0') * digit;
		digit /= 10;
	}
	return ns;
}

/* Of the zone that it names, else of here; false: there is no such time. */
static bool date_seconds(const struct tm *date, const char *zone, int64_t *seconds)
{
	struct tm tm = *date, named = { };
	const char *end;

	if (*zone) {
		if (!strchr("+-Z", *zone))
			return false;
		end = strptime(zone, "%z", &named);
		if (!end || *end)
			return false;
		*seconds = timegm(&tm) - named.tm_gmtoff;
	} else {
		tm.tm_isdst = -1;
		*seconds = mktime(&tm);
	}
	/* The 31st of February would be one of March. */
	return tm.tm_mday == date->tm_mday && *seconds >= 0 &&
	       *seconds < JOURNAL_MAX / NS;
}

/* As lines begin with; seconds, their fraction and the zone may be missing. */
static bool parse_date(const char *text, int64_t *ns)
{
	static const char * const forms[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
		"%Y-%m-%d %H:%M", "%Y-%m-%d",
	};
	const char *end = NULL;
	int64_t part, seconds;
	struct tm tm;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]) && !end; i++) {
		memset(&tm, 0, sizeof(tm));
		end = strptime(text, forms[i], &tm);
	}
	if (!end)
		return false;
	/* Of what is before them, "-05" and ".5" would be something else. */
	if (*end && (i == DATE_ONLY + 1 || (*end == '.' && i > WITH_SECONDS)))
		return false;
	part = fraction(&end);
	if (!date_seconds(&tm, end, &seconds))
		return false;
	*ns = seconds * NS + part;
	return true;
}

int64_t journal_since(const char *text)
{
	double before;
	int64_t ns;
	char *end;

	if (*text != '-' && parse_date(text, &ns))
		return ns;
	if (*text == '-') {
		before = strtod(text + 1, &end);
		if (isdigit((unsigned char)text[1]) && !*end &&
		    !strpbrk(text, "xX") && before < SINCE_MAX)
			return journal_now() - (int64_t)(before * NS);
	}
	mios_usage("journal", "'%.40s' is no time: --since=2026-11-28T16:00:00, or "
		   "-SECONDS before now", text);
}
