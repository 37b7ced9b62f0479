#ifndef TP_ERROR_H
#define TP_ERROR_H
#include <tp/common.h>
TP_BEGIN_DECLS
enum tp_status {
    TP_OK = 0,
    TP_ERR_VALUE = 1,
    TP_ERR_TYPE = 2,
    TP_ERR_INDEX = 3,
    TP_ERR_RUNTIME = 4,
    TP_ERR_NOT_IMPLEMENTED = 5,
    TP_ERR_MEMORY = 6,
    TP_ERR_CALLBACK = 7,
    TP_ERR_LINALG = 8,
    TP_ERR_BUFFER = 9
};
TP_API int tp_error_code(void);
TP_API const char *tp_error_message(void);
TP_API void tp_error_clear(void);
TP_API int tp_error_set(int code, const char *message);
TP_END_DECLS
#endif
