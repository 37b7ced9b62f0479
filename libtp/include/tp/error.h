/* Errors: a pinned code and a one-line message, both of the calling thread.
 *
 * A function that fails returns NULL or a code other than TP_OK and leaves code and message here.
 * A call that succeeds does not touch them; the last failure wins. */
#ifndef TP_ERROR_H
#define TP_ERROR_H

#include <tp/common.h>

TP_BEGIN_DECLS

/* Values are pinned: they are never changed or reused. */
enum tp_status {
    TP_OK = 0,
    TP_ERR_VALUE = 1,           /* a value, shape or dtype that does not fit */
    TP_ERR_TYPE = 2,            /* an argument of the wrong kind */
    TP_ERR_INDEX = 3,           /* an index or dimension out of range */
    TP_ERR_RUNTIME = 4,         /* a call that is not allowed in this state */
    TP_ERR_NOT_IMPLEMENTED = 5, /* no kernel or rule */
    TP_ERR_MEMORY = 6,          /* out of memory */
    TP_ERR_CALLBACK = 7,        /* a callback failed; its owner knows why */
    TP_ERR_LINALG = 8,          /* singular, not positive definite, not converged */
    TP_ERR_BUFFER = 9           /* memory that can't be exported or imported as asked */
};

/* The code of the last failure in this thread, TP_OK if there was none since tp_error_clear. */
TP_API int tp_error_code(void);

/* Its message, one line, never NULL; valid until the next failure or tp_error_clear in this thread. */
TP_API const char *tp_error_message(void);

TP_API void tp_error_clear(void);

/* For callbacks: records a failure and returns code. message may be NULL; it is copied and truncated
 * to 1023 bytes, line breaks become spaces. */
TP_API int tp_error_set(int code, const char *message);

TP_END_DECLS

#endif
