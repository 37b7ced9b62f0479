/* Two vectors' elements in a new order, with what the compiler has for it. Internal. */
#ifndef TPI_KERNELS_FFT_SHUFFLE_H
#define TPI_KERNELS_FFT_SHUFFLE_H

#include <stdint.h>

#if defined(__clang__) || __GNUC__ >= 12
#define FFT_SHUFFLE8(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define FFT_SHUFFLE4(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int32_t fft_order8 __attribute__((vector_size(32)));
typedef int64_t fft_order4 __attribute__((vector_size(32)));
#define FFT_SHUFFLE8(a, b, ...) __builtin_shuffle(a, b, (fft_order8){__VA_ARGS__})
#define FFT_SHUFFLE4(a, b, ...) __builtin_shuffle(a, b, (fft_order4){__VA_ARGS__})
#endif

#endif
