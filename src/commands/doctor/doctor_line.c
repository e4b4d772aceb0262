/* One line of what was found out. */
#include "commands/doctor/doctor.h"

#include <stdarg.h>

void doctor_say(struct doctor *doctor, enum verdict verdict, const char *subject,
                const char *format, ...)
{
    static const char *const VERDICTS[] = {
        [VERDICT_OK] = "ok", [VERDICT_WARN] = "WARN", [VERDICT_FAIL] = "FAIL"};
    va_list arguments;
    doctor->failed += verdict == VERDICT_FAIL;
    doctor->warned += verdict == VERDICT_WARN;
    (void)fprintf(doctor->out, "%-4s  %s: ", VERDICTS[verdict], subject);
    va_start(arguments, format);
    (void)vfprintf(doctor->out, format, arguments);
    va_end(arguments);
    (void)fputc('\n', doctor->out);
    (void)fflush(doctor->out); /* the next may take its time */
}
