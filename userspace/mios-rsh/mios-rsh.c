// SPDX-License-Identifier: GPL-2.0
/*
 * mios-rsh: what MPI's launchers call in place of ssh.  Same arguments: a
 * host, and words that are joined for a shell there.  Unlike mios exec it
 * waits for the last process of the tree, since launched daemons go into
 * the background, and it starts in the home directory, as logins do.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "libmios/client.h"

#define WHO	"mios-rsh"

static const char help[] =
"usage: mios-rsh [OPTION]... [NAME@]HOST [OPTION]... COMMAND [WORD]...\n"
"Run COMMAND on the instance called HOST (node2, its address, or the name of\n"
"this one), through your shell, as ssh does; for mpirun and its relatives.\n"
"  -l NAME   your own name, as NAME@HOST: others are refused\n"
"  -n        read no input\n"
"  -t        give it a terminal of its own, if input is one; -tt: always\n"
"  -T        do not\n"
"  -4 -6 -a -A -C -f -k -q -v -x -X -Y, -o TEXT, -p PORT, -i FILE\n"
"            accepted for ssh's sake and ignored\n";

/* -1: no instance is called so. */
static int instance_of(const char *host)
{
	char own[256] = "", text[MIOS_NETWORK_LEN];
	struct in_addr addr;
	uint32_t a, net;
	long id;

	if (!strncmp(host, "node", 4) &&
	    !mios_number(host + 4, 0, MIOS_MAX_INSTANCES - 1, &id))
		return id;
	if (inet_pton(AF_INET, host, &addr) == 1) {
		a = ntohl(addr.s_addr);
		if (!mios_network_text(text) &&
		    !mios_network_parse(text, &net) && (a ^ net) >> 16 == 0 &&
		    (a & 0xff) && (a & 0xff) <= MIOS_MAX_INSTANCES)
			return (a & 0xff) - 1;
		return a >> 24 == 127 ? mios_self() : -1;
	}
	gethostname(own, sizeof(own) - 1);
	if (!strcmp(host, own) || !strcmp(host, "localhost"))
		return mios_self();
	return -1;
}

/*
 * A launcher's own variables are for itself: ssh would not carry them, and
 * its daemons on other instances are told by their arguments.
 */
static bool is_launchers(const char *variable)
{
	static const char * const prefixes[] = { "OMPI_", "PMIX_", "PRTE_",
						 "ORTE_", "PMI_",
						 "MIOS_SESSION_DIR=" };
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static void drop_launchers(void)
{
	char **from, **to;

	for (from = to = environ; *from; from++)
		if (!is_launchers(*from))
			*to++ = *from;
	*to = NULL;
}

static char *join(int argc, char **argv)
{
	size_t len = 1;
	char *line;
	int i;

	for (i = 0; i < argc; i++)
		len += strlen(argv[i]) + 1;
	line = calloc(1, len);
	if (!line)
		exit(125);
	for (i = 0; i < argc; i++) {
		if (i)
			strcat(line, " ");
		strcat(line, argv[i]);
	}
	return line;
}

/*
 * What a daemon keeps in files has a folder that ends with its session: one that
 * is killed leaves them.  @line: who says where they are to be may do so.
 */
static void name_folder(const char *line)
{
	static const char * const variables[] = {
		"MIOS_SESSION_DIR",		/* miosd makes it there */
		"OMPI_MCA_orte_tmpdir_base",	/* Open MPI 4.1 */
		"PRTE_MCA_prte_tmpdir_base",	/* and 5.0 */
	};
	char path[64];
	uint64_t id;
	size_t i;

	if (strstr(line, "tmpdir_base") ||
	    getrandom(&id, sizeof(id), 0) != sizeof(id))
		return;
	snprintf(path, sizeof(path), "/tmp/mios-rsh.%016" PRIx64, id);
	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		setenv(variables[i], path, 1);
}

/* Nobody changes his name on the way. */
static void be_me(const char *name)
{
	const struct passwd *pw = getpwuid(getuid());

	if (pw && !strcmp(pw->pw_name, name))
		return;
	mios_error(WHO, "cannot become %s: use sudo or su first", name);
	exit(125);
}

/* From @argv[optind] on; @terminals: how often -t was there. */
static void parse(int argc, char **argv, int *terminals)
{
	int c;

	while ((c = getopt(argc, argv, "+46aACfhkl:no:p:i:qtTvxXY")) != -1) {
		switch (c) {
		case 'h':
			fputs(help, stdout);
			exit(0);
		case 'l':
			be_me(optarg);
			break;
		case 'n':
			mios_no_input();
			break;
		case 't':
			++*terminals;
			break;
		case 'T':
			*terminals = 0;
			break;
		case '?':
			exit(MIOS_EXIT_USAGE);
		}
	}
}

/* [NAME@]HOST; ends this where there is no such instance. */
static int take_host(char *word)
{
	char *host = strrchr(word, '@');
	int instance;

	if (host) {
		*host++ = '\0';
		be_me(word);
	} else {
		host = word;
	}
	instance = instance_of(host);
	if (instance >= 0)
		return instance;
	mios_error(WHO, "no instance is called %s: they are node0 to node%d",
		   host, MIOS_MAX_INSTANCES - 1);
	exit(125);
}

int main(int argc, char **argv)
{
	struct client_command cmd = { .who = WHO, .login = true };
	const struct passwd *pw = getpwuid(getuid());
	int terminals = 0;
	char *words[4];

	mios_streams_open();
	if (argc > 1 && !strcmp(argv[1], "--help")) {
		fputs(help, stdout);
		return 0;
	}
	parse(argc, argv, &terminals);
	if (optind < argc) {
		cmd.instance = take_host(argv[optind++]);
		/* As rsh has it: they may follow the host, too. */
		parse(argc, argv, &terminals);
	}
	if (optind >= argc) {
		mios_error(WHO, "a host and a command are needed (try "
			   "'mios-rsh --help')");
		return MIOS_EXIT_USAGE;
	}
	cmd.tty = terminals > 1 || (terminals && isatty(STDIN_FILENO));
	if (terminals && !cmd.tty)
		mios_error(WHO, "no terminal is made, as input is none: -tt "
			   "makes one all the same");
	words[0] = pw && pw->pw_shell && *pw->pw_shell ? pw->pw_shell :
		   "/bin/sh";
	words[1] = "-c";
	words[2] = join(argc - optind, argv + optind);
	words[3] = NULL;
	if ((!pw || chdir(pw->pw_dir)) && chdir("/"))
		return 125;
	drop_launchers();
	name_folder(words[2]);
	cmd.argv = words;
	cmd.envp = environ;
	return client_run(&cmd);
}
