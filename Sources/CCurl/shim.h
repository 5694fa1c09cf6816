// Only what Swift cannot import: libcurl's variadic functions.
#ifndef FERRY_CCURL_SHIM_H
#define FERRY_CCURL_SHIM_H

#include <curl/curl.h>

#endif
