/* Discrete Fourier transforms of lines of points. Internal.
 *
 * NOTE: how a transform runs
 * LANES lines are transformed side by side: real and imaginary parts lie apart in scratch memory, point k of all lanes
 * next to each other, so that every butterfly is vector arithmetic whatever the length. A pass is a Stockham stage
 * (Cochran et al., "What is the fast Fourier transform?", Proc. IEEE 55, 1967) of radix 8, 4, 2, 3, 5, or any other
 * prime up to FFT_RADIX_MAX. Lengths with a larger prime factor are convolutions (Bluestein, "A linear filtering
 * approach to the computation of discrete Fourier transform", IEEE Trans. AU-18, 1970). Where there are fewer lines
 * than lanes, or a line is too long for the cache, one line is cut into the columns of a matrix, which are then the
 * lanes (Bailey, "FFTs in external or hierarchical memory", J. Supercomputing 4, 1990). The inverse transform is the
 * forward one with real and imaginary parts exchanged. Real lines of even length are complex lines half as long. */
#ifndef TPI_KERNELS_FFT_H
#define TPI_KERNELS_FFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FFT_RADIX_MAX 31
#define FFT_LANE_BYTES 32 /* of one vector: 8 float, 4 double */

typedef enum fft_kind { FFT_LANES, FFT_SINGLE, FFT_REAL } fft_kind;

/* Tables for one length and precision; immutable once made, shared by threads. */
typedef struct fft_plan {
    fft_kind kind;
    int dtype; /* of the parts: TP_FLOAT32 or TP_FLOAT64 */
    int64_t n;
    int refs;
    uint64_t used;
    size_t bytes;
    int stages;
    int radix[64];
    void *twiddles; /* of stages: for each, m * (radix - 1) pairs. REAL: exp(-2 pi i k / n), n / 4 + 1 */
    void *roots; /* exp(-2 pi i k / radix), the radices without code of their own, one after another */
    int64_t n1, n2, pitch; /* SINGLE: n = n1 * n2; rows of a table of n1 * pitch */
    void *row_re, *row_im;
    int64_t padded; /* convolution: its length, 0 where there is none */
    void *chirp_re, *chirp_im; /* exp(-i pi k^2 / n) */
    void *filter_re, *filter_im; /* transform of the conjugate chirp, over the padded length */
    struct fft_plan *first, *second; /* SINGLE: columns and rows; convolution: the padded transform */
} fft_plan;

/* The plan, made if need be; NULL: no memory. Give it back with fft_plan_release. */
fft_plan *fft_plan_get(fft_kind kind, int dtype, int64_t n);
void fft_plan_release(fft_plan *plan);

/* exp(-2 pi i k / n) for 0 <= k < n, in a precision of at least that of dtype. */
void fft_root(int dtype, int64_t k, int64_t n, void *re, void *im);

typedef struct fft_side {
    void *data;
    const int64_t *at; /* offset of each line's first point, in real numbers */
    int64_t step; /* from one point to the next, in real numbers */
    int64_t part; /* from a real to an imaginary part; 0: there is no imaginary part */
} fft_side;

typedef enum fft_form {
    FFT_C2C,
    FFT_R2C, /* n real points to n / 2 + 1 */
    FFT_R2C_FULL, /* n real points to n */
    FFT_C2R /* n / 2 + 1 points to n real ones */
} fft_form;

typedef struct fft_job {
    fft_form form;
    bool inverse; /* of FFT_C2C; the sign of the exponent is otherwise that of the form */
    int64_t n;
    double scale;
    fft_plan *lanes, *single; /* of the complex length; one may be absent */
    fft_plan *real; /* with an even length of real lines, else absent */
    fft_side in, out;
} fft_job;

/* Scratch bytes that fft_lines needs for a job. */
size_t fft_scratch_f32(const fft_job *job);
size_t fft_scratch_f64(const fft_job *job);
/* Transforms `count` lines from the first one on. */
void fft_lines_f32(const fft_job *job, int64_t first, int64_t count, void *scratch);
void fft_lines_f64(const fft_job *job, int64_t first, int64_t count, void *scratch);
/* What the tables of a convolution need of the padded transform: in and out of n complex numbers, parts apart. */
size_t fft_whole_scratch_f32(const fft_plan *plan);
size_t fft_whole_scratch_f64(const fft_plan *plan);
void fft_whole_f32(const fft_plan *plan, const float *re, const float *im, float *out_re, float *out_im, void *scratch);
void fft_whole_f64(const fft_plan *plan, const double *re, const double *im, double *out_re, double *out_im,
                   void *scratch);

#endif
