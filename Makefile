# SPDX-License-Identifier: GPL-2.0
# The commands that everyone relies on; each hands on to the script that knows
# how.  Nothing is built here but by them, all of it under build/ and, by
# content, in the cache (see selftests/lib/buildcache.py).

MAKEFLAGS	+= --no-print-directory
OUT		:= $(CURDIR)/build
T		?=
B		?=
# As many as there are CPUs, unless make was told how many, or JOBS is.
PARALLEL	= $(if $(findstring -j,$(MAKEFLAGS)),,-j$(or $(JOBS),$(shell nproc)))

all: modules user

help:
	@echo "make demo      boot 4 nodes, run the main job, print what happened"
	@echo "make check     set up everything, run the gate (T=word: a part of it)"
	@echo "make full      every test (S=2/4: a part; T=word), goes on where it stopped"
	@echo "make bench     the ratios of docs/performance.md (B=word: a part)"
	@echo "make soak      the long tests, hours"
	@echo "make dsm       the DSM engine's native tools"
	@echo "make deb       packages for a real machine (LSMOD=FILE: with the modules"
	@echo "               that lsmod listed there, instead of all)"
	@echo "make packages|kernel|rootfs|modules|user|clean"

packages:
	@selftests/vm/install-packages

kernel-test: packages
	@linux/kernel build test

kernel-gate: kernel-test
	@linux/kernel build next
	@linux/kernel modules next $(OUT)/modules-next

kernel: kernel-gate
	@linux/kernel build debug

rootfs: packages
	@$(if $(filter 0,$(shell id -u)),,sudo -E) selftests/vm/rootfs build

modules:
	@linux/kernel modules test $(OUT)/modules-test

user:
	@if [ -e userspace/Makefile ]; then \
		$(MAKE) -s $(PARALLEL) -C userspace all && \
		$(MAKE) -s -C userspace install DESTDIR=$(OUT)/stage; fi

# The debug kernel takes twice as long to build again; the gate and these do
# without it.
check: kernel-gate rootfs user
	@selftests/run --gate $(T)

demo: kernel-test rootfs user
	@selftests/demo/run

bench: kernel-test rootfs user
full soak: kernel rootfs user
bench full soak:
	@selftests/run --$@ $(T)$(B)

deb: packages user
	@userspace/packaging/build

clean:
	rm -rf $(OUT)

-include mios/dsm/dsm.mk

.PHONY: all help packages kernel kernel-test kernel-gate rootfs modules user check \
	full demo bench soak \
	deb clean
