#include "node/rate/token_bucket.h"

#include <math.h>

#include "base/error.h"
#include "base/time_units.h"

void token_bucket_fill(struct token_bucket *bucket, uint64_t now_ns, double rate, double depth)
{
    CHECK(now_ns >= bucket->at_ns && rate > 0 && depth > 0);
    const double passed_s = (double)(now_ns - bucket->at_ns) / (double)SECOND_NS;
    bucket->credit = fmin(bucket->credit + rate * passed_s, depth);
    bucket->at_ns = now_ns;
}
