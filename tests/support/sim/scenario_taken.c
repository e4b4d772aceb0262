#include "support/sim/scenario_taken.h"

const struct taken_fault taken_faults[] = {
    {"crash desk/2, at 40 s, back at 60 s", FAULT_CRASH, 40, 60, "01000"},
    {"crash lab, at 40 s", FAULT_CRASH, 40, 40, "00111"},
    {"pause all, at 30 s, for 5 s", FAULT_PAUSE, 30, 35, "11111"},
    {"partition desk | lab, from 60 s to 90 s", FAULT_PARTITION, 60, 90, "11222"},
    {"partition desk/1|all, from 1 s to 2 s", FAULT_PARTITION, 1, 2, "32222"},
    {"clog lab/3, from 1 s to 2 s", FAULT_CLOG, 1, 2, "00001"},
    {"reset desk lab/1, at 4 s", FAULT_RESET, 4, 4, "11200"},
    {"half open desk, at 4 s", FAULT_HALF_OPEN, 4, 4, "11000"},
    {"slow reader desk, from 0 s to 4 s", FAULT_SLOW_READER, 0, 4, "11000"},
    {"fragment desk, from 0 s to 4 s", FAULT_FRAGMENT, 0, 4, "11000"},
    {"tamper desk, at 120 s", FAULT_TAMPER, 120, 120, "11000"},
    {"clock desk, at 4 s, by -30 s", FAULT_CLOCK, 4, 4, "11000"},
    {"duplicate desk/1, at 4 s", FAULT_DUPLICATE, 4, 4, "10000"},
    {"duplicate desk/1, until 9 s, at 4 s", FAULT_DUPLICATE, 4, 9, "10000"},
    {"wrong key desk, at 4 s", FAULT_WRONG_KEY, 4, 4, "11000"},
    {"hostile desk, from 1 s to 2 s", FAULT_HOSTILE, 1, 2, "11000"},
    {"mute desk, from 1 s to 2 s", FAULT_MUTE, 1, 2, "11000"},
    {"churn desk, every 10 s, away 15 s, from 1 s to 2 s", FAULT_CHURN, 1, 2, "11000"},
    {"churn, every 10 s, away 15 s", FAULT_CHURN, 0, 120, "11111"},
    {"crash lab, at 4 s, back at 9 s, disk lost, silently", FAULT_CRASH, 4, 9, "00111"},
    {"churn, every 10 s, away 15 s, disk rots", FAULT_CHURN, 0, 120, "11111"},
    {"pause lab, every 9 s, for 0.1 s to 30 s, from 1 s to 99 s", FAULT_PAUSE, 1, 99, "00111"},
    {"poison desk, with sign flip 2, from 1 s to 2 s", FAULT_POISON, 1, 2, "11000"},
    {"poison lab/1, with free ride", FAULT_POISON, 0, 120, "00100"},
};

const size_t taken_faults_count = sizeof taken_faults / sizeof taken_faults[0];

const struct taken_expect taken_expects[] = {
    {"accuracy >= 0.88 by 120 s", METRIC_ACCURACY, true, 0.88, .by_s = 120},
    {"accuracy >= 0.5", METRIC_ACCURACY, true, 0.5, .by_s = 0},
    {"one version by 10 s after training", METRIC_ONE_VERSION, false, 0, .by_s = 10},
    {"copies <= 1.1", METRIC_COPIES, false, 1.1, .by_s = 0},
    {"control <= 2 kB/s", METRIC_CONTROL, false, 2000, .by_s = 0},
    {"link use <= 70 %", METRIC_LINK_USE, false, 0.7, .by_s = 0},
    {"members >= 5 by 60 s", METRIC_MEMBERS, true, 5, .by_s = 60},
    {"steps>=99 %", METRIC_STEPS, true, 0.99, .by_s = 0},
    {"one component within 10 s of 60 s", METRIC_COMPONENT, false, 0, 70, .from_s = 60,
     .once = true},
    {"one component by 60 s", METRIC_COMPONENT, false, 0, .by_s = 60},
    {"joined by 90 s", METRIC_JOINED, false, 0, .by_s = 90},
    {"joined within 30 s of 90 s", METRIC_JOINED, false, 0, 120, .from_s = 90, .once = true},
    {"no healthy node removed", METRIC_REMOVED, false, 0, .by_s = 0},
    {"steps of desk >= 95 % from 60 s to 90 s", METRIC_STEPS_OF, true, 0.95, 90, .from_s = 60},
    {"published by lab >= 90 % from 60 s to 90 s", METRIC_PUBLISHED_BY, true, 0.9, 90, .from_s = 60,
     .group = 1},
    {"accuracy of all >= 0.8 from 60 s to 90 s", METRIC_ACCURACY_OF_ALL, true, 0.8, 90,
     .from_s = 60},
    {"accuracy of all >= better half - 0.5 points within 60 s of 30 s", METRIC_ACCURACY_OF_ALL,
     true, -0.005, 90, .from_s = 30, .bound = BOUND_BETTER_HALF, .once = true},
    {"accuracy of all >= worse half from 30 s to 90 s", METRIC_ACCURACY_OF_ALL, true, 0, 90,
     .from_s = 30, .bound = BOUND_WORSE_HALF},
    {"blocks <= 1.1 x base", METRIC_BLOCKS, false, 1.1, .by_s = 0},
    {"joining <= 1.15 x blocks / rate", METRIC_JOINING, false, 1.15, .by_s = 0},
};

const size_t taken_expects_count = sizeof taken_expects / sizeof taken_expects[0];

const char *everything(void)
{
    return "[scenario]\nabout = a\nseconds = 100\n"
           "nodes = 2 desk, 4 samples/s, up 1 MB/s, at 6 s up 5 MB/s, stall 1 s every 2 s\n"
           "nodes = 1 lab, region x, dials only, set exchange.beta=0, memory 1 GB, data 2\n"
           "link = desk x, rtt 8 ms, jitter 1 ms, loss 1 %, rate 2 MB/s\n"
           "link = all, delay 1 ms\n"
           "fault = partition desk/1 | x, from 6 s to 9 s, every 1 s\n"
           "fault = churn any desk, every 5 s, away 1 s\n"
           "expect = accuracy >= 0.8 by 90 s\n"
           "expect = one version by 10 s after training\n"
           "[exchange]\nbytes_per_s = 5000\n";
}
