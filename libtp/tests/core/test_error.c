#include <pthread.h>
#include <string.h>

#include "core/error.h"
#include "../check.h"

static void last_wins(void)
{
    tp_error_clear();
    CHECK_INT(tp_error_code(), TP_OK);
    CHECK_STR(tp_error_message(), "");
    CHECK_INT(tpi_fail(TP_ERR_VALUE, "mul: shapes [%d] and [%d]", 2, 3), TP_ERR_VALUE);
    CHECK_INT(tpi_fail(TP_ERR_INDEX, "select: index %d", 7), TP_ERR_INDEX);
    CHECK_INT(tp_error_code(), TP_ERR_INDEX);
    CHECK_STR(tp_error_message(), "select: index 7");
    CHECK(tpi_null(TP_ERR_TYPE, "no") == NULL);
    CHECK_INT(tp_error_code(), TP_ERR_TYPE);
    tp_error_clear();
    CHECK_INT(tp_error_code(), TP_OK);
    CHECK_STR(tp_error_message(), "");
}

static void one_line_of_bounded_length(void)
{
    char text[3000];
    memset(text, 'x', sizeof text);
    text[1] = '\n';
    text[sizeof text - 1] = 0;
    CHECK_INT(tp_error_set(TP_ERR_CALLBACK, text), TP_ERR_CALLBACK);
    CHECK_INT(strlen(tp_error_message()), 1023);
    CHECK(strchr(tp_error_message(), '\n') == NULL);
    CHECK_INT(tp_error_set(TP_OK, NULL), TP_ERR_RUNTIME);
    CHECK_STR(tp_error_message(), "");
    tp_error_set(TP_ERR_VALUE, "inner");
    tpi_fail(TP_ERR_VALUE, "outer: %s", tp_error_message());
    CHECK_STR(tp_error_message(), "outer: inner");
}

static void *other(void *unused)
{
    (void)unused;
    CHECK_INT(tp_error_code(), TP_OK);
    tpi_fail(TP_ERR_MEMORY, "other thread");
    CHECK_STR(tp_error_message(), "other thread");
    return NULL;
}

static void threads_have_their_own(void)
{
    tpi_fail(TP_ERR_LINALG, "mine");
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, other, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK_INT(tp_error_code(), TP_ERR_LINALG);
    CHECK_STR(tp_error_message(), "mine");
}

int main(void)
{
    RUN(last_wins);
    RUN(one_line_of_bounded_length);
    RUN(threads_have_their_own);
    CHECK_INT(tp_abi_version(), TP_ABI_VERSION);
    CHECK_STR(tp_library_version(), "0.1.0");
    return check_finish();
}
