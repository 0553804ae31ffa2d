// SPDX-License-Identifier: GPL-2.0
/*
 * What two programs do by libglex, one of which serves the other.
 *
 *	glexes serve NUM COUNT		endpoint NUM with key 7: tells who asks of its
 *					memory, echoes COUNT mini-packets, and says
 *					what it was sent and put; 0: until it is killed
 *	glexes ask NIC NUM COUNT	sends COUNT mini-packets and takes them back;
 *					puts and gets; tries what is not allowed
 *	glexes burst NIC NUM COUNT	sends COUNT, and no more: in order, none twice
 *	glexes until NIC NUM		sends until that cannot be done: what is said
 */
#include <glex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer than what is put to an adapter at once, and no multiple of anything. */
#define SIZE	((9u << 20) + 5)
#define KEY	7

static glex_device_handle_t dev;
static glex_ep_handle_t ep;
static glex_ep_addr_t self;
static unsigned char *memory;
static glex_mem_handle_t region;

static void refused(const char *what, glex_ret_t ret)
{
	struct glex_err_req error;
	uint32_t nr = ep ? 1 : 0;

	if (nr)
		glex_poll_error_req(ep, &nr, &error);
	printf("%s: %s%s%s\n", what, glex_error_str(ret), nr ? ": " : "",
	       nr ? glex_error_req_status_str(error.status) : "");
}

static void must(const char *what, glex_ret_t ret)
{
	if (ret == GLEX_SUCCESS)
		return;
	refused(what, ret);
	exit(1);
}

static unsigned char byte_at(uint32_t i)
{
	return i * 7 + i / 251 + 1;
}

static void fill(void)
{
	uint32_t i;

	for (i = 0; i < SIZE; i++)
		memory[i] = byte_at(i);
}

/* Is each byte as fill() has it? */
static const char *all_of_it(void)
{
	uint32_t i;

	for (i = 0; i < SIZE; i++)
		if (memory[i] != byte_at(i))
			return "not all";
	return "all";
}

static void begin(uint32_t num)
{
	struct glex_ep_attr attr = {
		.type = GLEX_EP_TYPE_FAST, .num = num, .key = KEY,
	};

	must("open", glex_open_device(0, &dev));
	must("endpoint", glex_create_ep(dev, &attr, &ep));
	must("address", glex_get_ep_addr(ep, &self));
	memory = calloc(1, SIZE);
	must("memory", glex_register_mem(ep, memory, SIZE,
					 GLEX_MEM_READ | GLEX_MEM_WRITE, &region));
}

static void end(void)
{
	must("forget", glex_deregister_mem(ep, region));
	must("end", glex_destroy_ep(ep));
	must("close", glex_close_device(dev));
}

static void sent(glex_ep_addr_t to, const void *data, uint32_t len)
{
	struct glex_imm_mp_req req = {
		.rmt_ep_addr = to, .data = (void *)data, .len = len,
	}, *bad;
	glex_ret_t ret;

	do {
		ret = glex_send_imm_mp(ep, &req, &bad);
	} while (ret == GLEX_BUSY);
	must("send", ret);
}

static uint32_t received(glex_ep_addr_t *from, void *data)
{
	uint32_t len;

	must("receive", glex_receive_mp(ep, 10000, from, data, &len));
	return len;
}

/* --- who serves */

static void serve(uint32_t count)
{
	uint64_t packet[16], next = 0, i;
	glex_ep_addr_t from;
	glex_event_t *event;
	uint32_t len;

	printf("%u %u\n", self.nic_id, self.ep_num);
	fflush(stdout);
	for (i = 0; !count || i < count; i++) {
		must("receive", glex_receive_mp(ep, -1, &from, packet, &len));
		if (len == 16 && packet[1] != next++) {
			printf("packet %lu came as %lu\n", packet[1], next - 1);
			exit(1);
		}
		if (packet[0] == 1)
			sent(from, &region, sizeof(region));
		else if (packet[0] == 2)
			sent(from, packet, len);
	}
	must("event", glex_probe_first_event(ep, 10000, &event));
	printf("put %s, event %lu %lu\n", all_of_it(),
	       (uint64_t)event->cookie_0, (uint64_t)event->cookie_1);
	must("discard", glex_discard_probed_event(ep));
}

/* --- who asks */

static glex_ret_t moved(glex_ep_addr_t to, glex_mem_handle_t there, uint32_t offset,
			uint32_t len, enum glex_rdma_type type, uint32_t key, int flag)
{
	struct glex_rdma_req req = {
		.rmt_ep_addr = to, .local_mh = region, .len = len,
		.rmt_mh = there, .rmt_offset = offset, .type = type,
		.local_evt.cookie_0 = 3, .local_evt.cookie_1 = 4,
		.rmt_evt.cookie_0 = 5, .rmt_evt.cookie_1 = 6,
		.rmt_key = key, .flag = flag,
	}, *bad = NULL;
	glex_ret_t ret = glex_rdma(ep, &req, &bad);

	if (ret && bad != &req)
		puts("the bad request is not named");
	return ret;
}

static glex_mem_handle_t asked(glex_ep_addr_t to)
{
	uint64_t hello = 1, packet[16];
	glex_mem_handle_t there;
	glex_ep_addr_t from;

	sent(to, &hello, 8);
	if (received(&from, packet) != sizeof(there) || from.v != to.v)
		puts("another one answers");
	memcpy(&there, packet, sizeof(there));
	return there;
}

static void ask(glex_ep_addr_t to, uint32_t count)
{
	glex_mem_handle_t there = asked(to), bad = there;
	uint64_t packet[16];
	glex_event_t *event;
	uint32_t i;

	bad.att_index += 2;
	refused("another key", moved(to, there, 0, 8, GLEX_RDMA_TYPE_GET, 8, 0));
	refused("another handle", moved(to, bad, 0, 8, GLEX_RDMA_TYPE_GET, KEY, 0));
	refused("beyond its end", moved(to, there, SIZE - 7, 8, GLEX_RDMA_TYPE_PUT, KEY, 0));
	refused("a collective", moved(to, there, 0, 8, GLEX_RDMA_TYPE_PUT, KEY, GLEX_FLAG_COLL));
	fill();
	must("put", moved(to, there, 0, SIZE, GLEX_RDMA_TYPE_PUT, KEY,
			  GLEX_FLAG_REMOTE_EVT | GLEX_FLAG_LOCAL_EVT));
	must("event", glex_probe_first_event(ep, 0, &event));
	if (event->cookie_0 != 3 || event->cookie_1 != 4)
		puts("another event");
	must("discard", glex_discard_probed_event(ep));
	memset(memory, 0, SIZE);
	must("get", moved(to, there, 0, SIZE, GLEX_RDMA_TYPE_GET, KEY, 0));
	printf("got %s\n", all_of_it());
	for (i = 0; i < count; i++) {
		glex_ep_addr_t from;

		packet[0] = 2;
		packet[1] = i;
		sent(to, packet, 16);
		if (received(&from, packet) != 16 || packet[1] != i)
			puts("another packet");
	}
	printf("%u packets there and back\n", count);
}

static void burst(glex_ep_addr_t to, uint32_t count)
{
	uint64_t packet[2] = { 3, 0 };

	for (; packet[1] < count; packet[1]++)
		sent(to, packet, 16);
	puts("sent");
}

static void until(glex_ep_addr_t to)
{
	uint64_t packet[2] = { 4, 0 };
	struct glex_imm_mp_req req = {
		.rmt_ep_addr = to, .data = packet, .len = 8,
	};
	glex_ret_t ret;

	do {
		ret = glex_send_imm_mp(ep, &req, NULL);
		usleep(1000);
	} while (ret == GLEX_SUCCESS || ret == GLEX_BUSY);
	refused("in the end", ret);
}

int main(int argc, char **argv)
{
	glex_ep_addr_t to;

	if (argc > 3 && !strcmp(argv[1], "serve")) {
		begin(atoi(argv[2]));
		serve(atoi(argv[3]));
	} else if (argc > 3) {
		begin(GLEX_ANY_EP_NUM);
		must("compose", glex_compose_ep_addr(atoi(argv[2]), atoi(argv[3]),
						     GLEX_EP_TYPE_FAST, &to));
		if (!strcmp(argv[1], "until"))
			until(to);
		else if (argc > 4 && !strcmp(argv[1], "ask"))
			ask(to, atoi(argv[4]));
		else if (argc > 4)
			burst(to, atoi(argv[4]));
	} else {
		return 2;
	}
	end();
	return 0;
}
