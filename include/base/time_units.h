#ifndef HEARSAY_BASE_TIME_UNITS_H
#define HEARSAY_BASE_TIME_UNITS_H

#include <stdint.h>

#define SECOND_NS ((uint64_t)1000000000)
#define MS_NS     ((uint64_t)1000000)

#endif
