/* Fourier transforms in double precision: see fft.h. */
#include "kernels/fft.h"

#include "core/clones.h"
#include "kernels/fft_shuffle.h"

#define ELEM double
#define NAME(x) x##_f64

#define EVEN(a, b) FFT_SHUFFLE4(a, b, 0, 2, 4, 6)
#define ODD(a, b) FFT_SHUFFLE4(a, b, 1, 3, 5, 7)
#define LOW(a, b) FFT_SHUFFLE4(a, b, 0, 4, 1, 5)
#define HIGH(a, b) FFT_SHUFFLE4(a, b, 2, 6, 3, 7)
#define TURN(v)                                                       \
    do {                                                              \
        VEC t_[4];                                                    \
        for (int i_ = 0; i_ < 4; i_ += 2) {                           \
            t_[i_] = FFT_SHUFFLE4(v[i_], v[i_ + 1], 0, 4, 2, 6);      \
            t_[i_ + 1] = FFT_SHUFFLE4(v[i_], v[i_ + 1], 1, 5, 3, 7);  \
        }                                                             \
        for (int i_ = 0; i_ < 2; i_++) {                              \
            v[i_] = FFT_SHUFFLE4(t_[i_], t_[i_ + 2], 0, 1, 4, 5);     \
            v[i_ + 2] = FFT_SHUFFLE4(t_[i_], t_[i_ + 2], 2, 3, 6, 7); \
        }                                                             \
    } while (0)

#include "kernels/fft_real.h"
