/* Fourier transforms in single precision: see fft.h. */
#include "kernels/fft.h"

#include "core/clones.h"
#include "kernels/fft_shuffle.h"

#define ELEM float
#define NAME(x) x##_f32

#define EVEN(a, b) FFT_SHUFFLE8(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD(a, b) FFT_SHUFFLE8(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define LOW(a, b) FFT_SHUFFLE8(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) FFT_SHUFFLE8(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define TURN(v)                                                                           \
    do {                                                                                  \
        VEC t_[8];                                                                        \
        for (int i_ = 0; i_ < 8; i_ += 2) {                                               \
            t_[i_] = FFT_SHUFFLE8(v[i_], v[i_ + 1], 0, 8, 1, 9, 4, 12, 5, 13);            \
            t_[i_ + 1] = FFT_SHUFFLE8(v[i_], v[i_ + 1], 2, 10, 3, 11, 6, 14, 7, 15);      \
        }                                                                                 \
        for (int i_ = 0; i_ < 8; i_ += 4) {                                               \
            v[i_] = FFT_SHUFFLE8(t_[i_], t_[i_ + 2], 0, 1, 8, 9, 4, 5, 12, 13);           \
            v[i_ + 1] = FFT_SHUFFLE8(t_[i_], t_[i_ + 2], 2, 3, 10, 11, 6, 7, 14, 15);     \
            v[i_ + 2] = FFT_SHUFFLE8(t_[i_ + 1], t_[i_ + 3], 0, 1, 8, 9, 4, 5, 12, 13);   \
            v[i_ + 3] = FFT_SHUFFLE8(t_[i_ + 1], t_[i_ + 3], 2, 3, 10, 11, 6, 7, 14, 15); \
        }                                                                                 \
        for (int i_ = 0; i_ < 4; i_++) {                                                  \
            VEC a_ = v[i_], b_ = v[i_ + 4];                                               \
            v[i_] = FFT_SHUFFLE8(a_, b_, 0, 1, 2, 3, 8, 9, 10, 11);                       \
            v[i_ + 4] = FFT_SHUFFLE8(a_, b_, 4, 5, 6, 7, 12, 13, 14, 15);                 \
        }                                                                                 \
    } while (0)

#include "kernels/fft_real.h"
