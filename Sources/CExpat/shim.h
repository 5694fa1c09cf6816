#ifndef FERRY_CEXPAT_SHIM_H
#define FERRY_CEXPAT_SHIM_H

#include <expat.h>

#endif
