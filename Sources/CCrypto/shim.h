#ifndef FERRY_CCRYPTO_SHIM_H
#define FERRY_CCRYPTO_SHIM_H

// OpenSSL's libcrypto and libssl, which libcurl loads into every process that uses it.
#include <openssl/evp.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>

#endif
