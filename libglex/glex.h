/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libglex: the interface of GLEX, as programs for it use it, between processes
 * on the instances of one machine.  Names, values and shapes are GLEX's, so such a
 * program is compiled anew and no more; libglex(7) tells what each does here.
 */
#ifndef GLEX_H
#define GLEX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum glex_ret {
	GLEX_SUCCESS = 0,
	GLEX_SYS_ERR,		/* see errno */
	GLEX_INVALID_PARAM,
	GLEX_NO_EP_RESOURCE,	/* that number is taken, or all are */
	GLEX_NO_MEM_RESOURCE,
	GLEX_BUSY,		/* no room there now: try again */
	GLEX_NO_MP,
	GLEX_NO_EVENT,
	GLEX_INTR,		/* a signal has ended the wait */
	GLEX_ACCESS_ERR,	/* not possible there: glex_poll_error_req() tells why */
	GLEX_NOT_IMPLEMENTED
} glex_ret_t;

/* What only the library looks into. */
typedef struct glex_device *glex_device_handle_t;
typedef struct glex_ep *glex_ep_handle_t;
typedef struct glex_coll *glex_coll_handle_t;

typedef struct glex_device_attr {
	uint32_t nic_id;		/* of this instance: its number */
	uint32_t max_fast_ep_num;
	uint32_t max_ep_num;
	uint32_t max_emulate_ep_num;
	uint32_t mmt_units;		/* regions that an endpoint may register */
	uint32_t att_units;
	uint32_t max_imm_mp_data_len;	/* bytes of a mini-packet */
	uint32_t max_mp_data_len;
	uint32_t max_imm_rdma_data_len;
	uint32_t max_rdma_data_len;
	uint32_t def_ep_dq_capacity;
	uint32_t def_ep_eq_capacity;
	uint32_t def_ep_mpq_capacity;
	uint32_t max_ep_dq_capacity;
	uint32_t max_ep_eq_capacity;
	uint32_t max_ep_mpq_capacity;
	uint32_t max_ep_hc_eq_capacity;
	uint32_t max_ep_hc_mpq_capacity;
} glex_device_attr_t;

enum glex_ep_type {
	GLEX_EP_TYPE_FAST = 0,
	GLEX_EP_TYPE_NORMAL = 1,
	GLEX_EP_TYPE_EMULATE = 2,
	GLEX_EP_TYPE_MANAGEMENT = 3
};

enum glex_mpq_type {
	GLEX_MPQ_TYPE_NORMAL = 0,
	GLEX_MPQ_TYPE_HIGH_CAPACITY = 1,
	GLEX_MPQ_TYPE_IOMMU = 2
};

enum glex_eq_type {
	GLEX_EQ_TYPE_NORMAL = 0,
	GLEX_EQ_TYPE_HIGH_CAPACITY = 1,
	GLEX_EQ_TYPE_IOMMU = 2
};

/* Some programs write .ep_num, others .s.ep_num. */
typedef union {
	struct {
		uint16_t ep_num;
		uint16_t resv;
		uint32_t nic_id;
	};
	struct {
		uint16_t ep_num;
		uint16_t resv;
		uint32_t nic_id;
	} s;
	uint64_t v;
} glex_ep_addr_t;

struct glex_ep_attr {
	enum glex_ep_type type;
	enum glex_mpq_type mpq_type;
	enum glex_eq_type eq_type;
	uint32_t num;		/* or GLEX_ANY_EP_NUM */
	uint32_t key;		/* who knows it may get and put */
	uint32_t dq_capacity;
	uint32_t mpq_capacity;	/* mini-packets; 0: the default */
	uint32_t eq_capacity;	/* events; 0: the default */
};

#define GLEX_ANY_EP_NUM			0xffffffff
#define GLEX_EP_DQ_CAPACITY_DEFAULT	0
#define GLEX_EP_MPQ_CAPACITY_DEFAULT	0
#define GLEX_EP_EQ_CAPACITY_DEFAULT	0

/* Of a program's own meaning, but that cookie_1 is not 0. */
typedef union {
	struct {
		volatile uint64_t cookie_0;
		volatile uint64_t cookie_1;
	};
	volatile uint64_t cookie[2];
} glex_event_t;

typedef union glex_mem_handle {
	struct {
		uint16_t mmt_index;
		uint16_t att_base_off;
		uint32_t att_index;
	};
	struct {
		uint16_t mmt_index;
		uint16_t att_base_off;
		uint32_t att_index;
	} s;
	uint64_t v;
} glex_mem_handle_t;

enum glex_mem_flag {
	GLEX_MEM_READ = 1,	/* others may get from there */
	GLEX_MEM_WRITE = 1 << 1, /* and put there */
	GLEX_MEM_IOMMU = 1 << 2
};

enum glex_flag {
	GLEX_FLAG_LOCAL_INTR = 1,
	GLEX_FLAG_REMOTE_INTR = 1 << 1,
	GLEX_FLAG_FENCE = 1 << 2,
	GLEX_FLAG_LOCAL_EVT = 1 << 3,
	GLEX_FLAG_REMOTE_EVT = 1 << 4,
	GLEX_FLAG_NO_CONNECTION = 1 << 5,
	GLEX_FLAG_ROUTE_ADAPTIVE = 1 << 6,
	/* Those below, chains of requests that wait for packets: not implemented. */
	GLEX_FLAG_COLL = 1 << 7,
	GLEX_FLAG_COLL_SEQ_START = 1 << 8,
	GLEX_FLAG_COLL_SEQ_TAIL = 1 << 9,
	GLEX_FLAG_COLL_COUNTER = 1 << 10,
	GLEX_FLAG_COLL_CP_DATA = 1 << 11,
	GLEX_FLAG_COLL_CP_SWAP_DATA = 1 << 12,
	GLEX_FLAG_COLL_CP_SWAP_ADDR = 1 << 13,
	GLEX_FLAG_COLL_SWAP = 1 << 14,
	GLEX_FLAG_COLL_SWAP_EP = 1 << 15,
	GLEX_FLAG_COLL_SWAP_SET = 1 << 16,
	GLEX_FLAG_COLL_REDUCE = 1 << 17,
	GLEX_FLAG_COLL_REDUCE_RESULT = 1 << 18
};

typedef struct glex_imm_mp_req {
	glex_ep_addr_t rmt_ep_addr;
	void *data;
	uint32_t len;
	uint32_t coll_counter;
	int32_t flag;
	struct glex_imm_mp_req *next;
} glex_imm_mp_req_t;

enum glex_rdma_type {
	GLEX_RDMA_TYPE_PUT = 0,
	GLEX_RDMA_TYPE_GET = 1
};

typedef struct glex_imm_rdma_req {
	glex_ep_addr_t rmt_ep_addr;
	void *data;
	uint32_t len;
	glex_mem_handle_t rmt_mh;
	uint32_t rmt_offset;
	glex_event_t rmt_evt;
	uint32_t rmt_key;
	uint32_t coll_counter;
	int32_t flag;
	struct glex_imm_rdma_req *next;
} glex_imm_rdma_req_t;

typedef struct glex_rdma_req {
	glex_ep_addr_t rmt_ep_addr;
	glex_mem_handle_t local_mh;
	uint32_t local_offset;
	uint32_t len;
	glex_mem_handle_t rmt_mh;
	uint32_t rmt_offset;
	enum glex_rdma_type type;
	glex_event_t local_evt;
	glex_event_t rmt_evt;
	uint32_t rmt_key;
	uint32_t coll_counter;
	uint32_t coll_set_num;
	int32_t flag;
	struct glex_rdma_req *next;
} glex_rdma_req_t;

/* What a reduction makes of two numbers; the lower location of equal ones is kept. */
enum glex_coll_reduce_op {
	GLEX_COLL_REDUCE_SUM_FLOAT = 0,
	GLEX_COLL_REDUCE_MAXLOC_FLOAT = 1,
	GLEX_COLL_REDUCE_MINLOC_FLOAT = 2,
	GLEX_COLL_REDUCE_SUM_SIGNED = 3,
	GLEX_COLL_REDUCE_MAXLOC_SIGNED = 4,
	GLEX_COLL_REDUCE_MINLOC_SIGNED = 5,
	GLEX_COLL_REDUCE_SUM_UNSIGNED = 6,
	GLEX_COLL_REDUCE_MAXLOC_UNSIGNED = 7,
	GLEX_COLL_REDUCE_MINLOC_UNSIGNED = 8,
	GLEX_COLL_REDUCE_LAND = 9,
	GLEX_COLL_REDUCE_LOR = 10,
	GLEX_COLL_REDUCE_LXOR = 11,
	GLEX_COLL_REDUCE_BAND = 12,
	GLEX_COLL_REDUCE_BOR = 13,
	GLEX_COLL_REDUCE_BXOR = 14
};

enum glex_coll_reduce_data_bits {
	GLEX_COLL_REDUCE_DATA_BITS_32 = 0,
	GLEX_COLL_REDUCE_DATA_BITS_64 = 1
};

/* A number, and where it is from. */
union glex_coll_data_loc {
	struct {
		int32_t data;
		uint32_t location;
	} int32_s;
	struct {
		uint32_t data;
		uint32_t location;
	} uint32_s;
	struct {
		int64_t data;
		uint32_t location;
	} int64_s;
	struct {
		uint64_t data;
		uint32_t location;
	} uint64_s;
	struct {
		float data;
		uint32_t location;
	} float_s;
	struct {
		double data;
		uint32_t location;
	} double_s;
};

/* The most members that a group has here. */
#define GLEX_COLL_MAX_MEMBERS	256

enum glex_err_req_op {
	GLEX_ERR_OP_IMM_MP,
	GLEX_ERR_OP_MP,
	GLEX_ERR_OP_IMM_RDMA_PUT,
	GLEX_ERR_OP_RDMA_PUT,
	GLEX_ERR_OP_RDMA_GET
};

enum glex_err_req_status {
	GLEX_ERR_STATUS_FORMAT,
	GLEX_ERR_STATUS_SRC_HOST_DEAD,
	GLEX_ERR_STATUS_DEST_HOST_DEAD,	/* its instance */
	GLEX_ERR_STATUS_PCIE_READ,
	GLEX_ERR_STATUS_ATT,		/* the memory itself is not there, or closed */
	GLEX_ERR_STATUS_MMT,		/* no such region, bounds, rights, or key */
	GLEX_ERR_STATUS_SRC_VP_STOP,
	GLEX_ERR_STATUS_DEST_VP_STOP,	/* its process, or the endpoint */
	GLEX_ERR_STATUS_DEST_MPQ_FULL,
	GLEX_ERR_STATUS_DEST_EQ_FULL,
	GLEX_ERR_STATUS_CONNECTION_MAX_RETRY,
	GLEX_ERR_STATUS_CONNECTION_RDMA_GET,
	GLEX_ERR_STATUS_CONNECTION_NACK,
	GLEX_ERR_STATUS_CONNECTION_ECC
};

struct glex_err_req {
	enum glex_err_req_op op;
	enum glex_err_req_status status;
	uint32_t rmt_nic_id;
	uint32_t rmt_ep_num;
	uint64_t data0;		/* bytes that were to be moved */
	uint64_t data1;		/* the region's handle there */
	uint64_t data2;		/* the offset in it */
};

/* --- device: the ring of this instance */
glex_ret_t glex_num_of_device(uint32_t *num_of_devices);
glex_ret_t glex_open_device(uint32_t dev_id, glex_device_handle_t *dev);
glex_ret_t glex_close_device(glex_device_handle_t dev);
glex_ret_t glex_query_device(glex_device_handle_t dev,
			     struct glex_device_attr *dev_attr);
/* Of this library: up to how many bytes packets are quicker than a copy. */
glex_ret_t glex_query_threshold(glex_device_handle_t dev, uint32_t *bytes);

/* --- endpoints */
glex_ret_t glex_create_ep(glex_device_handle_t dev,
			  struct glex_ep_attr *ep_attr, glex_ep_handle_t *ep);
glex_ret_t glex_destroy_ep(glex_ep_handle_t ep);
glex_ret_t glex_query_ep(glex_ep_handle_t ep, struct glex_ep_attr *ep_attr);
glex_ret_t glex_get_ep_addr(glex_ep_handle_t ep, glex_ep_addr_t *ep_addr);
glex_ret_t glex_compose_ep_addr(uint32_t nic_id, uint32_t ep_num,
				enum glex_ep_type type, glex_ep_addr_t *ep_addr);
glex_ret_t glex_decompose_ep_addr(glex_ep_addr_t ep_addr, enum glex_ep_type type,
				  uint32_t *nic_id, uint32_t *ep_num);

/* --- memory */
glex_ret_t glex_register_mem(glex_ep_handle_t ep, void *addr, uint64_t len,
			     int32_t flag, glex_mem_handle_t *mh);
glex_ret_t glex_deregister_mem(glex_ep_handle_t ep, glex_mem_handle_t mh);

/* --- mini-packets; timeouts in milliseconds, -1: for ever */
glex_ret_t glex_send_imm_mp(glex_ep_handle_t ep, struct glex_imm_mp_req *mp_req,
			    struct glex_imm_mp_req **bad_mp_req);
glex_ret_t glex_probe_first_mp(glex_ep_handle_t ep, int32_t timeout,
			       glex_ep_addr_t *src_ep_addr, void **data,
			       uint32_t *len);
glex_ret_t glex_probe_next_mp(glex_ep_handle_t ep, glex_ep_addr_t *src_ep_addr,
			      void **data, uint32_t *len);
glex_ret_t glex_discard_probed_mp(glex_ep_handle_t ep);
glex_ret_t glex_receive_mp(glex_ep_handle_t ep, int32_t timeout,
			   glex_ep_addr_t *src_ep_addr, void *data,
			   uint32_t *len);

/* --- put and get */
glex_ret_t glex_imm_rdma(glex_ep_handle_t ep, struct glex_imm_rdma_req *rdma_req,
			 struct glex_imm_rdma_req **bad_rdma_req);
glex_ret_t glex_rdma(glex_ep_handle_t ep, struct glex_rdma_req *rdma_req,
		     struct glex_rdma_req **bad_rdma_req);

/* --- events */
glex_ret_t glex_probe_first_event(glex_ep_handle_t ep, int32_t timeout,
				  glex_event_t **event);
glex_ret_t glex_probe_next_event(glex_ep_handle_t ep, glex_event_t **event);
glex_ret_t glex_discard_probed_event(glex_ep_handle_t ep);

/*
 * --- collectives: the calls are of this library, the numbers and operations
 * GLEX's.  All members of a group make the same calls in the same order.
 */
glex_ret_t glex_coll_join(glex_ep_handle_t ep, const glex_ep_addr_t members[],
			  uint32_t count, int32_t timeout,
			  glex_coll_handle_t *coll);
glex_ret_t glex_coll_leave(glex_coll_handle_t coll, int32_t timeout);
glex_ret_t glex_coll_barrier(glex_coll_handle_t coll, int32_t timeout);
glex_ret_t glex_coll_bcast(glex_coll_handle_t coll, uint32_t root, void *data,
			   uint64_t len, int32_t timeout);
glex_ret_t glex_coll_reduce(glex_coll_handle_t coll, uint32_t root,
			    const union glex_coll_data_loc send_buf[],
			    union glex_coll_data_loc recv_buf[], uint32_t count,
			    enum glex_coll_reduce_data_bits data_bits,
			    enum glex_coll_reduce_op op, int32_t timeout);
glex_ret_t glex_coll_allreduce(glex_coll_handle_t coll,
			       const union glex_coll_data_loc send_buf[],
			       union glex_coll_data_loc recv_buf[],
			       uint32_t count,
			       enum glex_coll_reduce_data_bits data_bits,
			       enum glex_coll_reduce_op op, int32_t timeout);

/* --- errors */
glex_ret_t glex_poll_error_req(glex_ep_handle_t ep, uint32_t *num_er,
			       struct glex_err_req *err_req_list);
const char *glex_error_str(glex_ret_t ret);
const char *glex_error_req_status_str(enum glex_err_req_status status);
const char *glex_error_req_opcode_str(enum glex_err_req_op opcode);

#ifdef __cplusplus
}
#endif

#endif /* GLEX_H */
