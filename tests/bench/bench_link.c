/* Measures how links share a bottleneck (bottleneck.h): which part of its capacity they use, how
 * long data waits in its queue, and how two links divide it. Time is virtual, so results do not
 * depend on the machine. */
#include <stdio.h>

#include "support/node/bottleneck.h"

static void one(double rate, uint64_t delay_ms, double duty)
{
    bottleneck_begin(1, rate, delay_ms);
    net.flows[0].duty = duty;
    run_ms(30000);
    const double use = use_of(0, 30000);
    printf("%11.3f %8u %6.0f %8.0f %12.1f\n", rate * 8e-6, (unsigned)delay_ms, 100 * duty,
           100 * use, median_wait_ms(30000));
}

static void two(double rate, uint64_t delay_ms)
{
    bottleneck_begin(2, rate, delay_ms);
    net.flows[1].begins_ns = 10 * SECOND_NS;
    run_ms(60000);
    const double first = net.flows[0].got, second = net.flows[1].got;
    run_ms(60000);
    printf("%11.3f %8u %21.2f\n", rate * 8e-6, (unsigned)delay_ms,
           (net.flows[0].got - first) / (net.flows[1].got - second));
}

/* Returns the seconds until the link uses four fifths of its new rate, at most 30. */
static double follows_s(double before, double after)
{
    bottleneck_begin(1, before, 20);
    run_ms(20000);
    net.rate = after;
    uint32_t ms = 0;
    while (ms < 30000 && use_of(0, 500) < 0.8)
        ms += 500;
    return ms * 1e-3;
}

/* Sends nothing for two minutes, and then as much as possible at `part` of the earlier rate. Prints
 * the maximum wait within three seconds, and the used part of the link in the first and the third
 * second. */
static void after_silence(double part)
{
    bottleneck_begin(1, 12.5e6, 20);
    run_ms(10000);
    net.flows[0].duty = 0;
    run_ms(120000);
    net.rate *= part;
    net.flows[0].duty = 1;
    const double first = use_of(0, 1000);
    run_ms(1000);
    const double third = use_of(0, 1000);
    printf("%11.3f %23.0f %14.0f %12.1f\n", net.rate * 8e-6, 100 * first, 100 * third,
           most_wait_ms(3000));
}

int main(void)
{
    static const uint64_t delays_ms[] = {1, 40, 400, 800};
    static const double rates[] = {8e3, 625e3, 12.5e6, 125e6, 1.25e9};
    printf("     Mbit/s   ms one    to    used %%  waits ms\n");
    printf("                 way  send            (median)\n");
    for (int r = 0; r < 5; r++)
        for (int d = 0; d < 4; d++)
            if (rates[r] * (double)delays_ms[d] < 6e9)
                one(rates[r], delays_ms[d], 1);
    one(625e3, 40, 0.7);
    printf("\ntwo on one, the second after ten seconds: first to second\n");
    for (int d = 0; d < 3; d++)
        two(1.25e6, (uint64_t[]){5, 40, 100}[d]);
    printf(
        "\na rate that changes, used to four fifths after: 20 to 2 Mbit/s %.1f s, 2 to 20 %.1f s\n",
        follows_s(2.5e6, 2.5e5), follows_s(2.5e5, 2.5e6));
    printf("\n100 Mbit/s, then two minutes of silence\n"
           "     Mbit/s  used %% in first second   in the third  waits ms (most)\n");
    for (int i = 0; i < 3; i++)
        after_silence((double[]){1, 0.1, 0.01}[i]);
    return 0;
}
