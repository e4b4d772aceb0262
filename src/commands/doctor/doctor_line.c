/* One line of what was found out. */
#include "commands/doctor/doctor.h"

#include <stdarg.h>

#include "commands/json_output.h"

#define LINE_BYTES 4096

static void add_line(json_t *lines, const char *verdict, const char *subject, const char *format,
                     va_list arguments)
{
    char text[LINE_BYTES];
    json_t *line = json_object();
    (void)vsnprintf(text, sizeof text, format, arguments);
    json_output_put(line, "verdict", json_string(verdict));
    json_output_put(line, "subject", json_string(subject));
    json_output_put(line, "text", json_string(text));
    CHECK(json_array_append_new(lines, line) == 0);
}

void doctor_say(struct doctor *doctor, enum verdict verdict, const char *subject,
                const char *format, ...)
{
    static const char *const VERDICTS[] = {
        [VERDICT_OK] = "ok", [VERDICT_WARN] = "WARN", [VERDICT_FAIL] = "FAIL"};
    va_list arguments;
    doctor->failed += verdict == VERDICT_FAIL;
    doctor->warned += verdict == VERDICT_WARN;
    va_start(arguments, format);
    if (doctor->lines) {
        add_line(doctor->lines, VERDICTS[verdict], subject, format, arguments);
    } else {
        (void)fprintf(doctor->out, "%-4s  %s: ", VERDICTS[verdict], subject);
        (void)vfprintf(doctor->out, format, arguments);
        (void)fputc('\n', doctor->out);
        (void)fflush(doctor->out); /* the next may take its time */
    }
    va_end(arguments);
}
