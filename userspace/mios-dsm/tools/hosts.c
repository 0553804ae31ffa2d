// SPDX-License-Identifier: GPL-2.0
/*
 * See hosts.h.  What an agent has to do is what ssh does: run a command on a
 * host, with our output as its own, and end it when we are gone.  ssh gives what
 * it is told to a shell there; other agents, as "ip netns exec", get a shell
 * and its command as words.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../libmios/cli.h"
#include "hosts.h"
#include "key.h"

#define AGENT_WORDS	16

struct agents {
	pid_t pid[TRANSPORT_NODES];
	int input[TRANSPORT_NODES];	/* closed: it is to end */
	int result;
};

static bool host_add(struct hosts *h, char *name, char *interface)
{
	if (h->nr == TRANSPORT_NODES || !*name || *name == '-') {
		cli_error(h->nr == TRANSPORT_NODES ?
			  "run: more hosts than %d" :
			  "run: a host without a name", TRANSPORT_NODES);
		return false;
	}
	h->host[h->nr].name = name;
	h->host[h->nr++].interface = interface;
	return true;
}

bool hosts_list(struct hosts *h, char *list)
{
	char *name, *interface;

	while ((name = strsep(&list, ","))) {
		interface = strchr(name, ':');
		if (interface)
			*interface++ = '\0';
		if (!host_add(h, name, interface))
			return false;
	}
	return true;
}

bool hosts_file(struct hosts *h, const char *path)
{
	char line[256], name[256], interface[256], more;
	FILE *f = fopen(path, "r");
	bool good = true;
	int words;

	if (!f) {
		cli_error("run: '%s': %s", path, strerror(errno));
		return false;
	}
	while (good && fgets(line, sizeof(line), f)) {
		/* The last line may have no end. */
		bool whole = strchr(line, '\n') || feof(f);

		line[strcspn(line, "#")] = '\0';
		words = sscanf(line, "%255s %255s %c", name, interface, &more);
		if (!whole || words > 2)
			good = !cli_error("run: '%s': a line is not HOST [INTERFACE]",
					  path);
		else if (words > 0)	/* They live as long as we do. */
			good = host_add(h, strdup(name), words > 1 ?
					strdup(interface) : NULL);
	}
	fclose(f);
	if (good && !h->nr)
		good = !cli_error("run: '%s' names no host", path);
	return good;
}

/* So that a shell takes it for one word. */
static void word_put(FILE *to, const char *word, int node)
{
	fputs(" '", to);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", to);
		else
			fputc(*word, to);
	if (node >= 0)
		fprintf(to, ".%d", node);
	fputc('\'', to);
}

/* What a shell is to do there, in memory of its own; NULL without any. */
static char *command(const struct hosts *h, u32 node,
		     const struct hosts_word *option, char **program)
{
	const char *interface = h->host[node].interface ?: h->interface;
	char *text = NULL, *here = getcwd(NULL, 0);
	char *tool = realpath("/proc/self/exe", NULL);
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to || !here || !tool)
		return NULL;
	fputs("cd", to);
	word_put(to, here, -1);
	fputs(" && exec", to);
	word_put(to, tool, -1);
	fprintf(to, " run --watched -n %u --node %u --interface", h->nr, node);
	word_put(to, interface, -1);
	fputs(h->key ? " --key -" : " --trust-wire", to);
	for (; option->word; option++)
		word_put(to, option->word, option->file ? (int)node : -1);
	for (; *program; program++)
		word_put(to, *program, -1);
	free(here);
	free(tool);
	return fclose(to) ? NULL : text;
}

/* Does it give its words to a shell, as ssh and rsh do? */
static bool agent_is_shell(const char *name)
{
	size_t n = strlen(name);

	return n >= 3 && !strcmp(name + n - 2, "sh") &&
		(name[n - 3] == 's' || name[n - 3] == 'r');
}

/* In the child: becomes the agent. */
static void become(const struct hosts *h, u32 node, char *text)
{
	char *agent = strdup(h->agent), *word[AGENT_WORDS + 5], *at;
	u32 n = 0;

	while ((at = strsep(&agent, " ")) && n < AGENT_WORDS)
		if (*at)
			word[n++] = at;
	if (!n)
		_exit(cli_error("run: no agent"));
	word[n] = h->host[node].name;
	at = word[0];
	n++;
	if (!agent_is_shell(at)) {
		word[n++] = "sh";
		word[n++] = "-c";
	}
	word[n++] = text;
	word[n] = NULL;
	execvp(at, word);
	cli_error("run: agent '%s': %s", at, strerror(errno));
	_exit(127);
}

/* It fits into the pipe, whose other end is open here: nobody waits. */
static bool key_give(const struct hosts *h, int input)
{
	char line[KEY_LINE];
	bool good;

	if (!h->key)
		return true;
	key_text(h->key, line);
	good = write(input, line, sizeof(line)) == sizeof(line);
	explicit_bzero(line, sizeof(line));
	return good;
}

static bool start(const struct hosts *h, struct agents *a, u32 node, char *text)
{
	int input[2];

	a->input[node] = -1;
	if (!text || pipe2(input, O_CLOEXEC))
		return false;
	a->input[node] = input[1];
	if (!key_give(h, input[1]))
		return false;
	fflush(NULL);
	a->pid[node] = fork();
	if (!a->pid[node]) {
		dup2(input[0], STDIN_FILENO);
		become(h, node, text);
	}
	close(input[0]);
	return a->pid[node] > 0;
}

static void end_all(struct agents *a, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		if (a->input[i] >= 0)
			close(a->input[i]);
		a->input[i] = -1;
	}
}

/* A node that cannot begin; the others would wait a minute for it. */
static bool in_vain(int status)
{
	return status == 2 || status == 126 || status == 127 || status == 255;
}

static void ended(const struct hosts *h, struct agents *a, pid_t pid, int status)
{
	for (u32 i = 0; i < h->nr; i++) {
		if (a->pid[i] != pid)
			continue;
		a->pid[i] = 0;
		status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
			WEXITSTATUS(status);
		if (!status)
			return;
		fprintf(stderr, "mios-dsm: node %u on '%s' ended with status %d\n",
			i, h->host[i].name, status);
		if (!a->result)
			a->result = status;
		if (in_vain(status))
			end_all(a, h->nr);
	}
}

int hosts_run(const struct hosts *h, const struct hosts_word *option,
	      char **program)
{
	struct agents a = { };
	u32 left = 0;
	int status;
	pid_t pid;

	for (u32 i = 0; i < h->nr; i++)
		if (!h->host[i].interface && !h->interface)
			return cli_error("run: which interface has '%s'? HOST:INTERFACE, or --interface",
					 h->host[i].name);
	for (; left < h->nr; left++) {
		char *text = command(h, left, option, program);
		bool good = start(h, &a, left, text);

		free(text);
		if (good)
			continue;
		a.result = cli_error("run: %s", strerror(errno));
		end_all(&a, left + 1);
		break;
	}
	while (left) {
		pid = waitpid(-1, &status, 0);
		if (pid < 0 && errno != EINTR)
			break;
		if (pid <= 0)
			continue;
		left--;
		ended(h, &a, pid, status);
	}
	end_all(&a, h->nr);
	return a.result;
}
