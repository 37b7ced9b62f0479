/* NOTE: convolutions
 *
 * Input x[n, c, i], weight w[k, c, t] and output y[n, k, o] belong together by i = o * stride - padding + t * dilation,
 * in each of up to three spatial dimensions; whatever falls outside counts as zero. The three operators give each of
 * the three from the other two, of any asked-for size: output, gradient of the input, gradient of the weight. A leading
 * dimension of x, w or y counts independent convolutions; an operand without it is shared by all.
 *
 * Real numbers run through kernels that read the image where it lies (conv_direct.c): for one tap of the window the
 * outputs of a row, and of the rows behind it, need consecutive elements of it. Other dtypes, small images and the
 * remaining gradients copy windows into columns and multiply matrices (conv.c). */
#ifndef TPI_KERNELS_CONV_H
#define TPI_KERNELS_CONV_H

#include "tensor/tensor.h"

/* Sizes of one spatial dimension; there are always three, the missing ones first. */
typedef struct tpi_window {
    int64_t in, taps, out, stride, pad, dilation;
} tpi_window;

/* Many convolutions of equal geometry. Strides count elements; spatial dimensions are contiguous but for taps. */
typedef struct tpi_conv {
    int dtype;
    tpi_window d[3];
    int64_t stacks, samples, groups, ci, co;      /* channels of one group */
    const char *x, *w;
    char *y;
    int64_t xs, xn, xg, xc;                       /* stack, sample, group, channel */
    int64_t ws, wg, wo, wi, wt[3];                /* stack, group, output channel, input channel, taps */
    int64_t ys, yn, yg, yc;
} tpi_conv;

/* Whether the direct kernels serve this geometry well. */
bool tpi_conv_direct_fits(const tpi_conv *c);
int tpi_conv_direct(const tpi_conv *c);

static inline int64_t tpi_conv_out(const tpi_conv *c) { return c->d[0].out * c->d[1].out * c->d[2].out; }
static inline int64_t tpi_conv_in(const tpi_conv *c) { return c->d[0].in * c->d[1].in * c->d[2].in; }
static inline int64_t tpi_conv_taps(const tpi_conv *c) { return c->d[0].taps * c->d[1].taps * c->d[2].taps; }

#endif
