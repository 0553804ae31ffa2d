/* SPDX-License-Identifier: GPL-2.0 */
/* PCI functions by their address: pci_use.c, for mios give and mios take. */
#ifndef MIOS_PCI_H
#define MIOS_PCI_H

#include <stdbool.h>
#include <stddef.h>

#define PCI_ADDRESS	13	/* 0000:03:00.0 */
#define PCI_DEVICES	"/sys/bus/pci/devices/"

/**
 * pci_address() - the whole address, from what a person writes
 * @text: 03:00.0 or 0000:03:00.0
 *
 * Return: false: it is none.
 */
bool pci_address(const char *text, char address[PCI_ADDRESS]);

/**
 * pci_in_use() - does this instance use something of a function?
 * @address: which; it is there
 * @what: out, whole words: "/dev/vdc is in use", and what to do
 *
 * A disk that is mounted, swapped to or part of another device, and a network
 * interface that is up.
 */
bool pci_in_use(const char *address, char *what, size_t size);

#endif /* MIOS_PCI_H */
