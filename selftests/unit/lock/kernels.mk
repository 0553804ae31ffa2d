# SPDX-License-Identifier: GPL-2.0
#
# A test of code that runs in several kernels: it is compiled in user space once for
# each instance, on models of what it stands on, and explored.  With a rule of it
# broken (--break) the tests must fail, in the words given.  Who includes this has set
#   NAME	of the test, and its folder
#   TESTED	the files of mios/ that instance.c includes
#   NONE	headers of Linux that they include, which kernel.h stands for
#   MODELS	objects of the models
# and checks what is broken, with "fails RULE WORDS", in the variable BREAKS.

ROOT := $(abspath ../../..)
O ?= $(ROOT)/build/unit/$(NAME)

LOCK := ../lock
INSTANCES := $(foreach i,0 1 2,$(O)/instance$(i).o)
TESTED := $(addprefix $(ROOT)/mios/,$(TESTED))
# What instances keep is part of a state, and so lies in one section.
CFLAGS := -std=gnu11 -g -O2 -Wall -Wextra -Werror -Wno-sign-compare -Wno-unused-parameter \
	  -fno-pie -I$(ROOT)/mios/include -I$(O) -DMIOS_INJECT -include $(LOCK)/os.h $(CFLAGS_OF)
HEADERS := Makefile $(LOCK)/kernels.mk $(wildcard *.h $(LOCK)/*.h) \
	   $(wildcard $(addsuffix *.h,$(dir $(TESTED)))) \
	   $(wildcard $(ROOT)/mios/include/mios/*.h $(ROOT)/mios/inject/*.h)
EXPLORE := $(O)/$(NAME)-explore

check: $(EXPLORE)
	$<
	@fails() { \
		$(EXPLORE) --break $$1 > $(O)/said 2>&1; \
		[ $$? = 1 ] && grep -qF "failed: $$2" $(O)/said || { \
			tail -n 5 $(O)/said; \
			echo "$$1 does not break '$$2'"; exit 1; }; \
	}; \
	$(BREAKS)

deep: $(EXPLORE)
	$(EXPLORE) --deep

$(O)/instance%.o: instance.c $(TESTED) $(HEADERS)
	@mkdir -p $(O)/linux $(O)/trace
	@for name in $(NONE); do : > $(O)/linux/$$name.h; done
	$(CC) $(CFLAGS) -include kernel.h -DSELF=$* -c -o $@.all $<
	objcopy --keep-global-symbol=instance_$* $@.all $@

$(O)/%.o: %.c $(HEADERS)
	@mkdir -p $(O)
	$(CC) $(CFLAGS) -c -o $@ $<

$(O)/%.o: $(LOCK)/%.c $(HEADERS)
	@mkdir -p $(O)
	$(CC) $(CFLAGS) -c -o $@ $<

$(O)/world.o: $(INSTANCES) $(MODELS:%=$(O)/%) $(LOCK)/world.ld
	$(LD) -r -T $(LOCK)/world.ld -o $@ $(filter %.o,$^)

$(EXPLORE): $(O)/world.o $(O)/scenarios.o $(O)/main.o $(O)/explore.o $(O)/kernels.o
	$(CC) -no-pie -o $@ $^ $(ROOT)/userspace/mios-lock/switch.S

clean:
	rm -rf $(O)

.PHONY: check deep clean
