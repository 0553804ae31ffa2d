# SPDX-License-Identifier: GPL-2.0
# The DSM engine's native build: tools, tests, figures; no kernel needed.
# Included by the top Makefile, or used alone: make -f mios/dsm/dsm.mk dsm

DSM_TOP := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))/../..
DSM_OUT := $(DSM_TOP)/build/dsm
DSM_BIN := $(DSM_TOP)/build/bin/mios-dsm
DSM_TEST_BIN := $(DSM_OUT)/mios-dsm-test

DSM_ENGINE := $(wildcard $(DSM_TOP)/mios/dsm/*.c)
DSM_USER := $(DSM_TOP)/userspace/mios-dsm
DSM_LIBMIOS := $(DSM_TOP)/userspace/libmios
DSM_RUNTIME := $(wildcard $(DSM_USER)/runtime/*.c) \
	$(wildcard $(DSM_TOP)/mios/dsm/emulate/*.c)
DSM_TOOLS := $(wildcard $(DSM_USER)/tools/*.c $(DSM_USER)/tools/*/*.c) \
	$(addprefix $(DSM_USER)/runtime/,causal.c ether.c seal.c shm_ring.c) \
	$(addprefix $(DSM_LIBMIOS)/,cli.c plot.c)
# A virtual machine over the nodes of libmios-dsm.
DSM_VMM := $(DSM_TOP)/build/bin/mios-vmm
DSM_TEST_VMM := $(DSM_OUT)/trials/mios-vmm
DSM_VMM_SOURCES := $(wildcard $(DSM_TOP)/userspace/mios-vmm/*.c) \
	$(DSM_LIBMIOS)/cli.c
# Each is one file, with two ways to begin: nodes and threads.
DSM_PROGRAMS := $(filter-out %/begin_nodes.c %/begin_threads.c,\
	$(wildcard $(DSM_USER)/programs/*.c))
DSM_PROGRAMS := $(notdir $(DSM_PROGRAMS:.c=))
DSM_HEADERS := $(wildcard $(DSM_TOP)/mios/dsm/*.h) \
	$(wildcard $(DSM_TOP)/mios/dsm/emulate/*.h) \
	$(wildcard $(DSM_USER)/*/*.h $(DSM_USER)/tools/*/*.h) \
	$(addprefix $(DSM_LIBMIOS)/,cli.h plot.h random.h)
DSM_VMM_HEADERS := $(wildcard $(DSM_TOP)/userspace/mios-vmm/*.h)

DSM_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Wmissing-prototypes -Werror
# As the kernel compiles it: no libc header, no libc call.
DSM_FREESTANDING := -ffreestanding -nostdinc \
	-isystem $(shell $(CC) -print-file-name=include) -fno-builtin

dsm_obj = $(patsubst $(DSM_TOP)/%.c,$(DSM_OUT)/$(1)/%.o,$(2))

DSM_REL_OBJ := $(call dsm_obj,release,$(DSM_ENGINE) $(DSM_TOOLS))
DSM_TEST_OBJ := $(call dsm_obj,test,$(DSM_ENGINE) $(DSM_TOOLS))

# A program needs the engine and the runtime; the tests' can be broken, too.
DSM_LIB := $(DSM_OUT)/release/libmios-dsm.a
DSM_TEST_LIB := $(DSM_OUT)/test/libmios-dsm.a
DSM_NATIVE := $(DSM_PROGRAMS:%=$(DSM_OUT)/programs/%)
DSM_THREADS := $(DSM_PROGRAMS:%=$(DSM_OUT)/programs/%-threads)
DSM_TRIALS := $(patsubst $(DSM_TOP)/selftests/dsm/native/%.c,\
	$(DSM_OUT)/trials/%,$(wildcard $(DSM_TOP)/selftests/dsm/native/*.c))

.PHONY: dsm dsm-native dsm-tests check-dsm bench-dsm soak-dsm

dsm: $(DSM_BIN) $(DSM_LIB) $(DSM_NATIVE) $(DSM_THREADS) $(DSM_VMM)

$(DSM_OUT)/release/mios/dsm/%.o: $(DSM_TOP)/mios/dsm/%.c $(DSM_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(DSM_CFLAGS) $(DSM_FREESTANDING) -c $< -o $@

$(DSM_OUT)/release/%.o: $(DSM_TOP)/%.c $(DSM_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(DSM_CFLAGS) -c $< -o $@

# The tests' build knows how to break each rule (knobs.h).
$(DSM_OUT)/test/%.o: $(DSM_TOP)/%.c $(DSM_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(DSM_CFLAGS) -DDSM_KNOBS -c $< -o $@

$(DSM_BIN): $(DSM_REL_OBJ)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lelf -lcrypto

$(DSM_TEST_BIN): $(DSM_TEST_OBJ)
	$(CC) -o $@ $^ -lelf -lcrypto

$(DSM_LIB): $(call dsm_obj,release,$(DSM_ENGINE) $(DSM_RUNTIME))
$(DSM_TEST_LIB): $(call dsm_obj,test,$(DSM_ENGINE) $(DSM_RUNTIME))
$(DSM_LIB) $(DSM_TEST_LIB):
	@rm -f $@
	$(AR) rcs $@ $^

$(DSM_OUT)/release/userspace/mios-vmm/%.o: $(DSM_TOP)/userspace/mios-vmm/%.c \
	$(DSM_HEADERS) $(DSM_VMM_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(DSM_CFLAGS) -Wshadow -D_GNU_SOURCE -c $< -o $@

# Static: the machine that it is started on may have nothing else.  The linker
# warns of functions of libcrypto that nothing calls (dlopen); errors are shown.
define vmm_link
@mkdir -p $(@D)
$(CC) -static -o $@ $^ -lcrypto -pthread 2> $(DSM_OUT)/vmm.log || \
	{ cat $(DSM_OUT)/vmm.log >&2; exit 1; }
endef

$(DSM_VMM): $(call dsm_obj,release,$(DSM_VMM_SOURCES)) $(DSM_LIB)
	$(vmm_link)

$(DSM_TEST_VMM): $(call dsm_obj,release,$(DSM_VMM_SOURCES)) $(DSM_TEST_LIB)
	$(vmm_link)

$(DSM_NATIVE): $(DSM_OUT)/programs/%: $(DSM_USER)/programs/%.c $(DSM_LIB) \
	$(DSM_HEADERS) $(DSM_USER)/programs/begin_nodes.c
	@mkdir -p $(@D)
	$(CC) $(DSM_CFLAGS) -o $@ $< $(DSM_USER)/programs/begin_nodes.c $(DSM_LIB) \
		-lcrypto -pthread -lm

$(DSM_THREADS): $(DSM_OUT)/programs/%-threads: $(DSM_USER)/programs/%.c \
	$(DSM_HEADERS) $(DSM_USER)/programs/begin_threads.c
	@mkdir -p $(@D)
	$(CC) $(DSM_CFLAGS) -o $@ $< $(DSM_USER)/programs/begin_threads.c -pthread -lm

$(DSM_TRIALS): $(DSM_OUT)/trials/%: $(DSM_TOP)/selftests/dsm/native/%.c \
	$(DSM_TEST_LIB) $(DSM_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(DSM_CFLAGS) -I$(DSM_USER)/runtime -o $@ $< $(DSM_TEST_LIB) \
		-lcrypto -pthread -lm

dsm-native: dsm $(DSM_TRIALS) $(DSM_TEST_VMM)

dsm-tests: $(DSM_BIN) $(DSM_TEST_BIN)

check-dsm: dsm-tests
	$(DSM_TOP)/selftests/dsm/engine/run $(DSM_TOP)

bench-dsm: $(DSM_BIN) $(DSM_LIB) $(DSM_NATIVE) $(DSM_THREADS)
	$(DSM_TOP)/selftests/bench/run dsm

soak-dsm: dsm-tests
	DSM_SOAK=1 $(DSM_TOP)/selftests/dsm/engine/run $(DSM_TOP)
