#ifndef FERRY_CCRYPTO_SHIM_H
#define FERRY_CCRYPTO_SHIM_H

// OpenSSL's libcrypto, which libcurl brings into every process that has it.
#include <openssl/evp.h>

#endif
