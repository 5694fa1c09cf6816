#ifndef FERRY_CPCRE2_SHIM_H
#define FERRY_CPCRE2_SHIM_H

// Selects PCRE2's library for 8-bit code units, which also supports UTF-8.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#endif
