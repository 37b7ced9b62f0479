#ifndef TP_COMMON_H
#define TP_COMMON_H
#include <stddef.h>
#include <stdint.h>
#define TP_VERSION_MAJOR 0
#define TP_VERSION_MINOR 1
#define TP_VERSION_PATCH 0
#define TP_ABI_VERSION 0
#if defined(__GNUC__) || defined(__clang__)
#define TP_API __attribute__((visibility("default")))
#else
#define TP_API
#endif
#ifdef __cplusplus
#define TP_BEGIN_DECLS extern "C" {
#define TP_END_DECLS }
#else
#define TP_BEGIN_DECLS
#define TP_END_DECLS
#endif
TP_BEGIN_DECLS
TP_API int tp_abi_version(void);
TP_API const char *tp_library_version(void);
TP_END_DECLS
#endif
