// SPDX-License-Identifier: GPL-2.0
/*
 * Atomic subroutines: integers and logicals of kind 4, which gfortran has as
 * atomic_int_kind and atomic_logical_kind.
 */
#include "caf.h"

enum { ATOMIC_ADD = 1, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR };

static _Atomic uint32_t *atom_at(void *token, size_t offset, int image, int kind)
{
	if (kind != sizeof(uint32_t))
		caf_die("an atomic variable of kind %d", kind);
	return (void *)token_at(token, team_image(caf_team, image), offset);
}

/* False, and *stat is set: the image has failed. */
static bool may_use(int image, int *stat)
{
	struct caf_report report = { .stat = stat };

	if (image_state(team_image(caf_team, image)) != CAF_DEAD) {
		caf_ok(&report);
		return true;
	}
	caf_error(&report, CAF_STAT_FAILED, "image %d has failed", image);
	return false;
}

void _gfortran_caf_atomic_define(void *token, size_t offset, int image,
				 const uint32_t *value, int *stat, int type,
				 int kind)
{
	if (may_use(image, stat))
		atomic_store(atom_at(token, offset, image, kind), *value);
}

void _gfortran_caf_atomic_ref(void *token, size_t offset, int image,
			      uint32_t *value, int *stat, int type, int kind)
{
	if (may_use(image, stat))
		*value = atomic_load(atom_at(token, offset, image, kind));
}

void _gfortran_caf_atomic_cas(void *token, size_t offset, int image,
			      uint32_t *old, const uint32_t *compare,
			      const uint32_t *value, int *stat, int type,
			      int kind)
{
	uint32_t found = *compare;

	if (!may_use(image, stat))
		return;
	atomic_compare_exchange_strong(atom_at(token, offset, image, kind),
				       &found, *value);
	*old = found;
}

void _gfortran_caf_atomic_op(int op, void *token, size_t offset, int image,
			     const uint32_t *value, uint32_t *old, int *stat,
			     int type, int kind)
{
	_Atomic uint32_t *atom;
	uint32_t found;

	if (!may_use(image, stat))
		return;
	atom = atom_at(token, offset, image, kind);
	switch (op) {
	case ATOMIC_ADD:
		found = atomic_fetch_add(atom, *value);
		break;
	case ATOMIC_AND:
		found = atomic_fetch_and(atom, *value);
		break;
	case ATOMIC_OR:
		found = atomic_fetch_or(atom, *value);
		break;
	case ATOMIC_XOR:
		found = atomic_fetch_xor(atom, *value);
		break;
	default:
		caf_die("atomic operation %d", op);
	}
	if (old)
		*old = found;
}
