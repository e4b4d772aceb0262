#include "daemon/web.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/system_clock.h"
#include "crypto/secret.h"
#include "daemon/status_server.h"
#include "web/metrics.h"

#define TOKEN_BYTES 256

/* Releases `json`; the caller frees the text. */
static char *text_of(json_t *json, size_t *count)
{
    char *text = json_dumps(json, STATUS_JSON);
    json_decref(json);
    CHECK(text);
    *count = strlen(text);
    return text;
}

static char *make(void *self, enum web_text what, size_t *count)
{
    struct web *web = self;
    json_t *page = web->page(web->host);
    char *text = NULL;
    switch (what) {
    case WEB_STATUS:
        return text_of(page, count);
    case WEB_METRICS:
        text = metrics_text(page, system_clock_s(CLOCK_REALTIME), count);
        break;
    case WEB_STORY:
        text = text_of(node_snapshot_whole(page, &web->trail, &web->happened), count);
        break;
    }
    json_decref(page);
    return text;
}

static bool is_ready(void *self)
{
    struct web *web = self;
    json_t *page = web->page(web->host);
    const bool ready = json_is_true(json_object_get(page, "healthy"));
    json_decref(page);
    return ready;
}

/* token: buffer of TOKEN_BYTES bytes for the first line of the file, without blanks at its end. */
static enum error read_token(const char *path, char *token, struct problem *problem)
{
    struct stat about;
    const int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = opened >= 0 && fstat(opened, &about) == 0 ? fdopen(opened, "r") : NULL;
    if (!file)
        return problem_set(problem, FAILED, "cannot read node.http_token %.200s: %s", path,
                           strerror(errno));
    const bool is_secret = S_ISREG(about.st_mode) && (about.st_mode & 077) == 0;
    const bool has_line = fgets(token, TOKEN_BYTES, file) != NULL;
    (void)fclose(file);
    if (!is_secret)
        return problem_set(problem, FAILED,
                           "node.http_token %.200s must be a file that only its owner can read; "
                           "run chmod 600 on it",
                           path);
    size_t length = has_line ? strlen(token) : 0;
    while (length > 0 && isspace((unsigned char)token[length - 1]))
        token[--length] = '\0';
    if (length == TOKEN_BYTES - 1)
        return problem_set(problem, TOO_BIG,
                           "node.http_token %.200s has %d characters or more in its first line; "
                           "create a shorter password with: openssl rand -hex 16",
                           path, TOKEN_BYTES - 1);
    if (length < WEB_TOKEN_MIN)
        return problem_set(problem, MALFORMED,
                           "node.http_token %.200s has fewer than %d characters in its first line; "
                           "create a password with: openssl rand -hex 16",
                           path, WEB_TOKEN_MIN);
    return OK;
}

enum error web_open(struct web *web, const struct config_node *config, struct problem *problem)
{
    const struct web_owner owner = {.self = web, .make = make, .is_ready = is_ready};
    char token[TOKEN_BYTES] = "";
    enum error error = OK;
    trail_init(&web->trail);
    if (!config->http.host[0])
        return OK;
    if (config->http_token[0])
        error = read_token(config->http_token, token, problem);
    if (error == OK)
        error =
            web_server_open(&web->server, &config->http, token[0] ? token : NULL, &owner, problem);
    secret_wipe(token, sizeof token);
    return error;
}

void web_close(struct web *web)
{
    web_server_close(web->server);
    web->server = NULL;
}

void web_on_note(struct web *web, const struct note *note)
{
    static const char *const LEVELS[] = {"debug", "info", "warning", "error"};
    char text[HAPPENED_TEXT_BYTES];
    if (!web->server || note->level == LEVEL_DEBUG)
        return;
    CHECK(note->level <= LEVEL_ERROR);
    (void)snprintf(text, sizeof text, "%s%s%s", note->who, note->who[0] ? " " : "", note->text);
    happened_add(&web->happened, (double)(note->at_ns - web->start_ns) * 1e-9, LEVELS[note->level],
                 text);
}

void web_on_second(struct web *web, const double second[static TRAIL_VALUES])
{
    size_t count;
    if (!web->server)
        return;
    web_server_renew(web->server);
    const bool has_moment = trail_add(&web->trail, second);
    if (web_server_is_watched(web->server)) {
        json_t *page = web->page(web->host);
        web_server_send(web->server, text_of(node_snapshot_update(page, &web->trail, has_moment,
                                                                  &web->happened, web->told),
                                             &count));
        json_decref(page);
    }
    web->told = web->happened.count;
}

void web_on_ready(struct web *web)
{
    web->is_due = web->server && web_server_run(web->server);
}
