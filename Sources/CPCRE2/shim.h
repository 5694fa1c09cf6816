#ifndef FERRY_CPCRE2_SHIM_H
#define FERRY_CPCRE2_SHIM_H

// The library for subjects of 8-bit code units, which is the one that reads UTF-8.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#endif
