#include "error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls.h"

enum { MESSAGE_BYTES = 1024 };

/* The buffer is not itself thread-local: a library that is loaded late gets such storage at the first use
 * in each thread, and the C library ends the process when there is no memory for it. */
static TPI_TLS struct {
    char *message;
    int code;
    bool ended;
} last;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void thread_ended(void *message)
{
    last.message = NULL;
    last.ended = true;
    free(message);
}

static void start(void) { has_key = pthread_key_create(&key, thread_ended) == 0; }

static char *message_buffer(void)
{
    if (last.message || last.ended) return last.message;
    pthread_once(&once, start);
    char *message = has_key ? malloc(MESSAGE_BYTES) : NULL;
    if (message && pthread_setspecific(key, message) != 0) {
        free(message);
        message = NULL;
    }
    return last.message = message;
}

static void one_line(char *s)
{
    for (; *s; s++)
        if (*s == '\n' || *s == '\r') *s = ' ';
}

int tpi_fail(int code, const char *fmt, ...)
{
    /* An argument may be the message itself, so the new one is made elsewhere first. */
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof text, fmt, args) < 0) text[0] = 0;
    va_end(args);
    one_line(text);
    char *message = message_buffer();
    if (message) memcpy(message, text, strlen(text) + 1);
    last.code = code;
    return code;
}

int tp_error_code(void) { return last.code; }

const char *tp_error_message(void)
{
    if (last.code == TP_OK) return "";
    return last.message ? last.message : "out of memory: no room for the message of an error";
}

void tp_error_clear(void) { last.code = TP_OK; }

int tp_error_set(int code, const char *message)
{
    /* A failure without a code would be read as success. */
    return tpi_fail(code == TP_OK ? TP_ERR_RUNTIME : code, "%s", message ? message : "");
}
