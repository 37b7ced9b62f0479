/* A test program: CHECK in functions, RUN in main, return check_finish(). */
#ifndef TP_TESTS_CHECK_H
#define TP_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;

#define CHECK_MSG(cond, ...)                                                  \
    do {                                                                      \
        if (!(cond)) {                                                        \
            __atomic_add_fetch(&check_failures, 1, __ATOMIC_RELAXED);         \
            fprintf(stderr, "%s:%d: CHECK(%s): ", __FILE__, __LINE__, #cond); \
            fprintf(stderr, __VA_ARGS__);                                     \
            fputc('\n', stderr);                                              \
        }                                                                     \
    } while (0)

#define CHECK(cond) CHECK_MSG(cond, "failed")
#define CHECK_INT(a, b)                                                                   \
    do {                                                                                  \
        long long check_a = (long long)(a), check_b = (long long)(b);                     \
        CHECK_MSG(check_a == check_b, "%s is %lld, expected %lld", #a, check_a, check_b); \
    } while (0)
#define CHECK_STR(a, b)                                                                              \
    do {                                                                                             \
        const char *check_a = (a), *check_b = (b);                                                   \
        CHECK_MSG(!strcmp(check_a, check_b), "%s is \"%s\", expected \"%s\"", #a, check_a, check_b); \
    } while (0)

/* Ends the test program: for what the rest of a test can't do without. */
#define REQUIRE(cond)                                                                  \
    do {                                                                               \
        if (!(cond)) {                                                                 \
            fprintf(stderr, "%s:%d: REQUIRE(%s) failed\n", __FILE__, __LINE__, #cond); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define RUN(test)                                                                   \
    do {                                                                            \
        int check_before = check_failures;                                          \
        test();                                                                     \
        printf("%s %s\n", check_failures == check_before ? "ok  " : "FAIL", #test); \
        fflush(stdout);                                                             \
    } while (0)

static inline int check_finish(void)
{
    if (check_failures) printf("%d checks failed\n", check_failures);
    return check_failures ? 1 : 0;
}

#endif
