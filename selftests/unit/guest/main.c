// SPDX-License-Identifier: GPL-2.0
/*
 * The devices of mios-vmm, fed by hand: no KVM, no time of the host's.  Exit 0
 * if all is well; prints the first thing that is not.
 */
#include "test.h"

int main(void)
{
	apic_tests();
	ioapic_tests();
	serial_tests();
	acpi_tests();
	route_tests();
	puts("the guest's devices: right");
	return 0;
}
