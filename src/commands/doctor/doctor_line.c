/* Prints the result of one check as a line, or adds it to the JSON array. */
#include "commands/doctor/doctor.h"

#include <stdarg.h>
#include <unistd.h>

#include "commands/json_output.h"
#include "commands/terminal.h"

#define LINE_BYTES 4096
#define CLEAR      "\r\033[K"

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

static void clear(struct doctor *doctor)
{
    if (doctor->is_waiting)
        (void)fputs(CLEAR, stderr);
    doctor->is_waiting = false;
}

void doctor_begin(struct doctor *doctor, const char *subject)
{
    clear(doctor);
    if (terminal_of(STDERR_FILENO).rows == 0)
        return;
    (void)fprintf(stderr, "...   %s", subject);
    (void)fflush(stderr);
    doctor->is_waiting = true;
}

void doctor_say(struct doctor *doctor, enum verdict verdict, const char *subject,
                const char *format, ...)
{
    static const char *const VERDICTS[] = {
        [VERDICT_OK] = "ok", [VERDICT_WARN] = "WARN", [VERDICT_FAIL] = "FAIL"};
    va_list arguments;
    doctor->failed += verdict == VERDICT_FAIL;
    doctor->warned += verdict == VERDICT_WARN;
    clear(doctor);
    va_start(arguments, format);
    if (doctor->lines) {
        add_line(doctor->lines, VERDICTS[verdict], subject, format, arguments);
    } else {
        (void)fprintf(doctor->out, "%-4s  %s: ", VERDICTS[verdict], subject);
        (void)vfprintf(doctor->out, format, arguments);
        (void)fputc('\n', doctor->out);
        /* The user sees this line before the next check, which may be slow. */
        (void)fflush(doctor->out);
    }
    va_end(arguments);
}
