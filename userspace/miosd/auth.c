// SPDX-License-Identifier: GPL-2.0
/*
 * The proofs that two miosds give each other: a code over what is said and
 * over a number that the other side has just chosen, made with the machine's
 * key.  So a proof is good for one connection and one content.
 */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "miosd.h"

int auth_nonce(uint8_t nonce[MIOS_NONCE_LEN])
{
	return getrandom(nonce, MIOS_NONCE_LEN, 0) == MIOS_NONCE_LEN ? 0 : -EIO;
}

/* @role keeps one side's words from being given back to it as the other's. */
int auth_code(const unsigned char key[MIOS_KEY_LEN], char role,
	      const uint8_t nonce[MIOS_NONCE_LEN], const void *data,
	      size_t len, uint8_t code[MIOS_CODE_LEN])
{
	unsigned char hash[1 + MIOS_NONCE_LEN + MIOS_CODE_LEN];
	unsigned int size = MIOS_CODE_LEN;

	hash[0] = role;
	memcpy(hash + 1, nonce, MIOS_NONCE_LEN);
	if (!EVP_Digest(data, len, hash + 1 + MIOS_NONCE_LEN, NULL,
			EVP_sha256(), NULL) ||
	    !HMAC(EVP_sha256(), key, MIOS_KEY_LEN, hash, sizeof(hash), code,
		  &size))
		return -EIO;
	return 0;
}

bool auth_same(const uint8_t a[MIOS_CODE_LEN], const uint8_t b[MIOS_CODE_LEN])
{
	return !CRYPTO_memcmp(a, b, MIOS_CODE_LEN);
}
