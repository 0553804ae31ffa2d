// SPDX-License-Identifier: GPL-2.0
/*
 * A server that keeps values by their names, and its clients, on one instance or
 * several.  Clients get values straight out of the server's table, which takes no part.
 * To set one, a client puts it into a box of its own in the server's memory and says
 * so by a mini-packet: the server alone writes the table.
 *
 *	kvs serve NUM			endpoint NUM, until somebody says "stop"; prints
 *					its address
 *	kvs set NIC NUM NAME VALUE
 *	kvs get NIC NUM NAME		prints the value; status 1: there is none
 *	kvs fill NIC NUM WORD COUNT	sets COUNT values and gets each again
 *	kvs stop NIC NUM
 */
#include <glex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES	1024u
#define BOXES	64u
#define NAME	32u
#define VALUE	1024u
#define KEY	1974u
#define WAIT_MS	30000

enum { HELLO = 1, SET, STOP, DONE, REFUSED };

/* check is made of the rest: a client may get it while it is being written. */
struct entry {
	uint64_t check;
	uint32_t used;
	char name[NAME];
	char value[VALUE];
};

struct memory {
	struct entry table[ENTRIES];
	struct entry box[BOXES];
};

/* What server and clients tell each other. */
struct packet {
	uint32_t what;
	uint32_t box;
	glex_mem_handle_t mh;
};

static glex_ep_handle_t ep;

static void must(const char *what, glex_ret_t ret)
{
	if (ret == GLEX_SUCCESS)
		return;
	fprintf(stderr, "kvs: %s: %s\n", what, glex_error_str(ret));
	exit(1);
}

static void begin(uint32_t num)
{
	struct glex_ep_attr attr = { .num = num, .key = KEY };
	glex_device_handle_t dev;

	must("device", glex_open_device(0, &dev));
	must("endpoint", glex_create_ep(dev, &attr, &ep));
}

static uint64_t hash(const void *data, size_t len)
{
	const uint8_t *bytes = data;
	uint64_t sum = 14695981039346656037ull;

	while (len--)
		sum = (sum ^ *bytes++) * 1099511628211ull;
	return sum;
}

static uint64_t check_of(const struct entry *e)
{
	return hash(&e->used, sizeof(*e) - offsetof(struct entry, used));
}

static void sent(glex_ep_addr_t to, const struct packet *packet)
{
	struct glex_imm_mp_req req = {
		.rmt_ep_addr = to, .data = (void *)packet, .len = sizeof(*packet),
	};
	glex_ret_t ret;

	do {
		ret = glex_send_imm_mp(ep, &req, NULL);
	} while (ret == GLEX_BUSY);
	must("send", ret);
}

static struct packet received(glex_ep_addr_t *from, int32_t timeout)
{
	struct packet packet = { 0 };
	uint8_t data[128];
	uint32_t len;

	must("receive", glex_receive_mp(ep, timeout, from, data, &len));
	if (len == sizeof(packet))
		memcpy(&packet, data, len);
	return packet;
}

/* --- the server */

static struct memory memory;
static glex_ep_addr_t client[BOXES];
static uint32_t clients;

/* The place of a name: its own, or a free one; NULL: the table is full. */
static struct entry *place(const char *name)
{
	uint32_t first = hash(name, strlen(name)) % ENTRIES, i;
	struct entry *e;

	for (i = 0; i < ENTRIES; i++) {
		e = &memory.table[(first + i) % ENTRIES];
		if (!e->used || !strcmp(e->name, name))
			return e;
	}
	return NULL;
}

/* What is in a box is copied, then looked at: a client may write there always. */
static uint32_t set(uint32_t box, glex_ep_addr_t from)
{
	struct entry new, *e;

	if (box >= clients || client[box].v != from.v)
		return REFUSED;
	new = memory.box[box];
	if (!memchr(new.name, 0, NAME) || !memchr(new.value, 0, VALUE))
		return REFUSED;
	e = place(new.name);
	if (!e)
		return REFUSED;
	new.used = 1;
	new.check = check_of(&new);
	*e = new;
	return DONE;
}

static void serve(void)
{
	struct packet packet, answer;
	glex_ep_addr_t from;
	glex_mem_handle_t mh;
	uint32_t i;

	for (i = 0; i < ENTRIES; i++)
		memory.table[i].check = check_of(&memory.table[i]);
	must("memory", glex_register_mem(ep, &memory, sizeof(memory),
					 GLEX_MEM_READ | GLEX_MEM_WRITE, &mh));
	must("address", glex_get_ep_addr(ep, &from));
	printf("%u %u\n", from.nic_id, from.ep_num);
	fflush(stdout);
	do {
		packet = received(&from, -1);
		answer = (struct packet){ .what = REFUSED, .mh = mh };
		if (packet.what == HELLO) {
			/* The oldest one's box goes to the next when all have one. */
			answer.box = clients < BOXES ? clients++ : rand() % BOXES;
			client[answer.box] = from;
			answer.what = DONE;
		} else if (packet.what == SET) {
			answer.what = set(packet.box, from);
		} else if (packet.what == STOP) {
			answer.what = DONE;
		}
		sent(from, &answer);
	} while (packet.what != STOP);
}

/* --- a client */

static glex_ep_addr_t server;
static struct packet own;
static struct entry entry;
static glex_mem_handle_t entry_mh;

static uint32_t asked(uint32_t what)
{
	struct packet packet = { .what = what, .box = own.box };
	glex_ep_addr_t from;

	sent(server, &packet);
	packet = received(&from, WAIT_MS);
	if (what == HELLO)
		own = packet;
	return packet.what;
}

static void greet(void)
{
	begin(GLEX_ANY_EP_NUM);
	must("memory", glex_register_mem(ep, &entry, sizeof(entry), GLEX_MEM_READ,
					 &entry_mh));
	if (asked(HELLO) != DONE) {
		fprintf(stderr, "kvs: the server does not want us\n");
		exit(1);
	}
}

static void moved(enum glex_rdma_type type, uint32_t offset)
{
	struct glex_rdma_req req = {
		.rmt_ep_addr = server, .local_mh = entry_mh, .len = sizeof(entry),
		.rmt_mh = own.mh, .rmt_offset = offset, .type = type, .rmt_key = KEY,
	};

	must(type == GLEX_RDMA_TYPE_PUT ? "put" : "get", glex_rdma(ep, &req, NULL));
}

static int set_value(const char *name, const char *value)
{
	if (strlen(name) >= NAME || strlen(value) >= VALUE)
		return -1;
	memset(&entry, 0, sizeof(entry));
	strcpy(entry.name, name);
	strcpy(entry.value, value);
	moved(GLEX_RDMA_TYPE_PUT, offsetof(struct memory, box) + own.box * sizeof(entry));
	return asked(SET) == DONE ? 0 : -1;
}

/* As the server looks for it, but by gets: NULL if there is none. */
static const char *get_value(const char *name)
{
	uint32_t first = hash(name, strlen(name)) % ENTRIES, i;

	for (i = 0; i < ENTRIES; i++) {
		do {
			moved(GLEX_RDMA_TYPE_GET, (first + i) % ENTRIES * sizeof(entry));
		} while (entry.check != check_of(&entry));
		if (!entry.used)
			return NULL;
		if (!strcmp(entry.name, name))
			return entry.value;
	}
	return NULL;
}

static int fill(const char *word, uint32_t count)
{
	char name[NAME], value[VALUE];
	const char *is;
	uint32_t i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%.16s-%u", word, i);
		snprintf(value, sizeof(value), "%s is %u", name, i * i);
		is = set_value(name, value) ? NULL : get_value(name);
		if (!is || strcmp(is, value)) {
			printf("%s is '%s'\n", name, is ? is : "not there");
			return 1;
		}
	}
	printf("%u values\n", count);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: kvs serve NUM | kvs set NIC NUM NAME VALUE |\n"
		"       kvs get NIC NUM NAME | kvs fill NIC NUM WORD COUNT | kvs stop NIC NUM\n");
	return 2;
}

static int ask(int argc, char **argv)
{
	const char *value;

	if (glex_compose_ep_addr(atoi(argv[2]), atoi(argv[3]), GLEX_EP_TYPE_FAST, &server))
		return usage();
	greet();
	if (argc == 6 && !strcmp(argv[1], "set"))
		return !!set_value(argv[4], argv[5]);
	if (argc == 6 && !strcmp(argv[1], "fill"))
		return fill(argv[4], atoi(argv[5]));
	if (argc == 4 && !strcmp(argv[1], "stop"))
		return asked(STOP) != DONE;
	if (argc != 5 || strcmp(argv[1], "get"))
		return usage();
	value = get_value(argv[4]);
	if (value)
		puts(value);
	return !value;
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc == 3 && !strcmp(argv[1], "serve")) {
		begin(atoi(argv[2]));
		serve();
	} else if (argc > 3) {
		status = ask(argc, argv);
	} else {
		return usage();
	}
	if (ep)
		must("end", glex_destroy_ep(ep));
	return status;
}
