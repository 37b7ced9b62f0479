#ifndef TP_OPS_H
#define TP_OPS_H
#include "tp/dtype.h"
#include "tp/error.h"
#include "tp/random.h"
#include "tp/tensor.h"
TP_BEGIN_DECLS
TP_API tp_tensor *tp_abs(tp_tensor *self);
TP_API int tp_abs_(tp_tensor *self);
TP_API tp_tensor *tp_acos(tp_tensor *self);
TP_API int tp_acos_(tp_tensor *self);
TP_API tp_tensor *tp_acosh(tp_tensor *self);
TP_API int tp_acosh_(tp_tensor *self);
TP_API tp_tensor *tp_adaptive_avg_pool1d(tp_tensor *input, const int64_t *output_size, int64_t n_output_size);
TP_API tp_tensor *tp_adaptive_avg_pool2d(tp_tensor *input, const int64_t *output_size, int64_t n_output_size);
TP_API tp_tensor *tp_adaptive_avg_pool3d(tp_tensor *input, const int64_t *output_size, int64_t n_output_size);
TP_API tp_tensor *tp_adaptive_max_pool1d(tp_tensor *input, const int64_t *output_size, int64_t n_output_size);
TP_API int tp_adaptive_max_pool1d_with_indices(tp_tensor *input, const int64_t *output_size, int64_t n_output_size,
                                               tp_tensor **out);
TP_API tp_tensor *tp_adaptive_max_pool2d(tp_tensor *input, const int64_t *output_size, int64_t n_output_size);
TP_API int tp_adaptive_max_pool2d_with_indices(tp_tensor *input, const int64_t *output_size, int64_t n_output_size,
                                               tp_tensor **out);
TP_API tp_tensor *tp_adaptive_max_pool3d(tp_tensor *input, const int64_t *output_size, int64_t n_output_size);
TP_API int tp_adaptive_max_pool3d_with_indices(tp_tensor *input, const int64_t *output_size, int64_t n_output_size,
                                               tp_tensor **out);
TP_API tp_tensor *tp_add(tp_tensor *self, tp_tensor *other, const tp_scalar *alpha);
TP_API tp_tensor *tp_add_f(tp_tensor *self, double other, const tp_scalar *alpha);
TP_API tp_tensor *tp_add_i(tp_tensor *self, int64_t other, const tp_scalar *alpha);
TP_API int tp_add_(tp_tensor *self, tp_tensor *other, const tp_scalar *alpha);
TP_API int tp_add_f_(tp_tensor *self, double other, const tp_scalar *alpha);
TP_API int tp_add_i_(tp_tensor *self, int64_t other, const tp_scalar *alpha);
TP_API tp_tensor *tp_addbmm(tp_tensor *self, tp_tensor *batch1, tp_tensor *batch2, const tp_scalar *beta,
                            const tp_scalar *alpha);
TP_API int tp_addbmm_(tp_tensor *self, tp_tensor *batch1, tp_tensor *batch2, const tp_scalar *beta,
                      const tp_scalar *alpha);
TP_API tp_tensor *tp_addcdiv(tp_tensor *self, tp_tensor *tensor1, tp_tensor *tensor2, const tp_scalar *value);
TP_API int tp_addcdiv_(tp_tensor *self, tp_tensor *tensor1, tp_tensor *tensor2, const tp_scalar *value);
TP_API tp_tensor *tp_addcmul(tp_tensor *self, tp_tensor *tensor1, tp_tensor *tensor2, const tp_scalar *value);
TP_API int tp_addcmul_(tp_tensor *self, tp_tensor *tensor1, tp_tensor *tensor2, const tp_scalar *value);
TP_API tp_tensor *tp_addmm(tp_tensor *self, tp_tensor *mat1, tp_tensor *mat2, const tp_scalar *beta,
                           const tp_scalar *alpha);
TP_API int tp_addmm_(tp_tensor *self, tp_tensor *mat1, tp_tensor *mat2, const tp_scalar *beta, const tp_scalar *alpha);
TP_API tp_tensor *tp_addmv(tp_tensor *self, tp_tensor *mat, tp_tensor *vec, const tp_scalar *beta,
                           const tp_scalar *alpha);
TP_API int tp_addmv_(tp_tensor *self, tp_tensor *mat, tp_tensor *vec, const tp_scalar *beta, const tp_scalar *alpha);
TP_API tp_tensor *tp_addr(tp_tensor *self, tp_tensor *vec1, tp_tensor *vec2, const tp_scalar *beta,
                          const tp_scalar *alpha);
TP_API int tp_addr_(tp_tensor *self, tp_tensor *vec1, tp_tensor *vec2, const tp_scalar *beta, const tp_scalar *alpha);
TP_API tp_tensor *tp_adjoint(tp_tensor *self);
TP_API tp_tensor *tp_alias_copy(tp_tensor *self);
TP_API tp_tensor *tp_all(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim);
TP_API tp_tensor *tp_amax(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim);
TP_API tp_tensor *tp_amin(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim);
TP_API int tp_aminmax(tp_tensor *self, int64_t dim, bool keepdim, tp_tensor **out);
TP_API tp_tensor *tp_angle(tp_tensor *self);
TP_API tp_tensor *tp_any(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim);
TP_API tp_tensor *tp_arange(const tp_scalar *end, int dtype);
TP_API tp_tensor *tp_arange_start(const tp_scalar *start, const tp_scalar *end, const tp_scalar *step, int dtype);
TP_API tp_tensor *tp_argmax(tp_tensor *self, int64_t dim, bool keepdim);
TP_API tp_tensor *tp_argmin(tp_tensor *self, int64_t dim, bool keepdim);
TP_API tp_tensor *tp_argsort(tp_tensor *self, int64_t dim, bool descending, bool stable);
TP_API tp_tensor *tp_argwhere(tp_tensor *self);
TP_API tp_tensor *tp_as_strided(tp_tensor *self, const int64_t *size, int64_t n_size, const int64_t *stride,
                                int64_t n_stride, int64_t storage_offset);
TP_API tp_tensor *tp_as_strided_copy(tp_tensor *self, const int64_t *size, int64_t n_size, const int64_t *stride,
                                     int64_t n_stride, int64_t storage_offset);
TP_API tp_tensor *tp_asin(tp_tensor *self);
TP_API int tp_asin_(tp_tensor *self);
TP_API tp_tensor *tp_asinh(tp_tensor *self);
TP_API int tp_asinh_(tp_tensor *self);
TP_API tp_tensor *tp_atan(tp_tensor *self);
TP_API int tp_atan_(tp_tensor *self);
TP_API tp_tensor *tp_atan2(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_atan2_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_atan2_i(tp_tensor *self, int64_t other);
TP_API int tp_atan2_(tp_tensor *self, tp_tensor *other);
TP_API int tp_atan2_f_(tp_tensor *self, double other);
TP_API int tp_atan2_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_atanh(tp_tensor *self);
TP_API int tp_atanh_(tp_tensor *self);
TP_API tp_tensor *tp_atleast_1d(tp_tensor *self);
TP_API tp_tensor *tp_atleast_2d(tp_tensor *self);
TP_API tp_tensor *tp_atleast_3d(tp_tensor *self);
TP_API tp_tensor *tp_avg_pool1d(tp_tensor *input, const int64_t *kernel_size, int64_t n_kernel_size,
                                const int64_t *stride, int64_t n_stride, const int64_t *padding, int64_t n_padding,
                                bool ceil_mode, bool count_include_pad);
TP_API tp_tensor *tp_avg_pool2d(tp_tensor *input, const int64_t *kernel_size, int64_t n_kernel_size,
                                const int64_t *stride, int64_t n_stride, const int64_t *padding, int64_t n_padding,
                                bool ceil_mode, bool count_include_pad, int64_t divisor_override);
TP_API tp_tensor *tp_avg_pool3d(tp_tensor *input, const int64_t *kernel_size, int64_t n_kernel_size,
                                const int64_t *stride, int64_t n_stride, const int64_t *padding, int64_t n_padding,
                                bool ceil_mode, bool count_include_pad, int64_t divisor_override);
TP_API tp_tensor *tp_baddbmm(tp_tensor *self, tp_tensor *batch1, tp_tensor *batch2, const tp_scalar *beta,
                             const tp_scalar *alpha);
TP_API int tp_baddbmm_(tp_tensor *self, tp_tensor *batch1, tp_tensor *batch2, const tp_scalar *beta,
                       const tp_scalar *alpha);
TP_API tp_tensor *tp_batch_norm(tp_tensor *input, tp_tensor *running_mean, tp_tensor *running_var, tp_tensor *weight,
                                tp_tensor *bias, bool training, double momentum, double eps);
TP_API tp_tensor *tp_bernoulli(tp_tensor *self, tp_generator *generator);
TP_API tp_tensor *tp_bernoulli_p(tp_tensor *self, double p, tp_generator *generator);
TP_API int tp_bernoulli_p_(tp_tensor *self, double p, tp_generator *generator);
TP_API tp_tensor *tp_bernoulli_tensor(tp_tensor *self, tp_tensor *p, tp_generator *generator);
TP_API int tp_bernoulli_tensor_(tp_tensor *self, tp_tensor *p, tp_generator *generator);
TP_API tp_tensor *tp_bilinear(tp_tensor *input1, tp_tensor *input2, tp_tensor *weight, tp_tensor *bias);
TP_API tp_tensor *tp_binary_cross_entropy(tp_tensor *input, tp_tensor *target, tp_tensor *weight,
                                          const char *reduction);
TP_API tp_tensor *tp_binary_cross_entropy_with_logits(tp_tensor *input, tp_tensor *target, tp_tensor *weight,
                                                      const char *reduction, tp_tensor *pos_weight);
TP_API tp_tensor *tp_bincount(tp_tensor *self, tp_tensor *weights, int64_t minlength);
TP_API tp_tensor *tp_bitwise_and(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_bitwise_and_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_bitwise_and_i(tp_tensor *self, int64_t other);
TP_API int tp_bitwise_and_(tp_tensor *self, tp_tensor *other);
TP_API int tp_bitwise_and_f_(tp_tensor *self, double other);
TP_API int tp_bitwise_and_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_bitwise_left_shift(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_bitwise_left_shift_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_bitwise_left_shift_i(tp_tensor *self, int64_t other);
TP_API int tp_bitwise_left_shift_(tp_tensor *self, tp_tensor *other);
TP_API int tp_bitwise_left_shift_f_(tp_tensor *self, double other);
TP_API int tp_bitwise_left_shift_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_bitwise_not(tp_tensor *self);
TP_API int tp_bitwise_not_(tp_tensor *self);
TP_API tp_tensor *tp_bitwise_or(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_bitwise_or_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_bitwise_or_i(tp_tensor *self, int64_t other);
TP_API int tp_bitwise_or_(tp_tensor *self, tp_tensor *other);
TP_API int tp_bitwise_or_f_(tp_tensor *self, double other);
TP_API int tp_bitwise_or_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_bitwise_right_shift(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_bitwise_right_shift_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_bitwise_right_shift_i(tp_tensor *self, int64_t other);
TP_API int tp_bitwise_right_shift_(tp_tensor *self, tp_tensor *other);
TP_API int tp_bitwise_right_shift_f_(tp_tensor *self, double other);
TP_API int tp_bitwise_right_shift_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_bitwise_xor(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_bitwise_xor_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_bitwise_xor_i(tp_tensor *self, int64_t other);
TP_API int tp_bitwise_xor_(tp_tensor *self, tp_tensor *other);
TP_API int tp_bitwise_xor_f_(tp_tensor *self, double other);
TP_API int tp_bitwise_xor_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_block_diag(tp_tensor *const *tensors, int64_t n_tensors);
TP_API tp_tensor *tp_bmm(tp_tensor *self, tp_tensor *mat2);
TP_API int tp_broadcast_tensors(tp_tensor *const *tensors, int64_t n_tensors, tp_tensor ***out, int64_t *n_out);
TP_API tp_tensor *tp_broadcast_to(tp_tensor *self, const int64_t *size, int64_t n_size);
TP_API tp_tensor *tp_bucketize(tp_tensor *self, tp_tensor *boundaries, bool out_int32, bool right);
TP_API tp_tensor *tp_cartesian_prod(tp_tensor *const *tensors, int64_t n_tensors);
TP_API tp_tensor *tp_cast(tp_tensor *self, int dtype);
TP_API tp_tensor *tp_cat(tp_tensor *const *tensors, int64_t n_tensors, int64_t dim);
TP_API tp_tensor *tp_cauchy(tp_tensor *self, double median, double sigma, tp_generator *generator);
TP_API int tp_cauchy_(tp_tensor *self, double median, double sigma, tp_generator *generator);
TP_API tp_tensor *tp_cdist(tp_tensor *x1, tp_tensor *x2, double p, const char *compute_mode);
TP_API tp_tensor *tp_ceil(tp_tensor *self);
TP_API int tp_ceil_(tp_tensor *self);
TP_API tp_tensor *tp_celu(tp_tensor *input, double alpha);
TP_API tp_tensor *tp_channel_shuffle(tp_tensor *input, int64_t groups);
TP_API tp_tensor *tp_cholesky(tp_tensor *self, bool upper);
TP_API tp_tensor *tp_cholesky_inverse(tp_tensor *self, bool upper);
TP_API tp_tensor *tp_cholesky_solve(tp_tensor *self, tp_tensor *L, bool upper);
TP_API int tp_chunk(tp_tensor *self, int64_t chunks, int64_t dim, tp_tensor ***out, int64_t *n_out);
TP_API tp_tensor *tp_clamp(tp_tensor *self, const tp_scalar *min, const tp_scalar *max);
TP_API int tp_clamp_(tp_tensor *self, const tp_scalar *min, const tp_scalar *max);
TP_API tp_tensor *tp_clamp_tensor(tp_tensor *self, tp_tensor *min, tp_tensor *max);
TP_API int tp_clamp_tensor_(tp_tensor *self, tp_tensor *min, tp_tensor *max);
TP_API tp_tensor *tp_clamp_max(tp_tensor *self, const tp_scalar *max);
TP_API int tp_clamp_max_(tp_tensor *self, const tp_scalar *max);
TP_API tp_tensor *tp_clamp_max_tensor(tp_tensor *self, tp_tensor *max);
TP_API int tp_clamp_max_tensor_(tp_tensor *self, tp_tensor *max);
TP_API tp_tensor *tp_clamp_min(tp_tensor *self, const tp_scalar *min);
TP_API int tp_clamp_min_(tp_tensor *self, const tp_scalar *min);
TP_API tp_tensor *tp_clamp_min_tensor(tp_tensor *self, tp_tensor *min);
TP_API int tp_clamp_min_tensor_(tp_tensor *self, tp_tensor *min);
TP_API tp_tensor *tp_clone(tp_tensor *self);
TP_API tp_tensor *tp_column_stack(tp_tensor *const *tensors, int64_t n_tensors);
TP_API tp_tensor *tp_combinations(tp_tensor *self, int64_t r, bool with_replacement);
TP_API tp_tensor *tp_complex(tp_tensor *real, tp_tensor *imag);
TP_API tp_tensor *tp_conj(tp_tensor *self);
TP_API tp_tensor *tp_constant_pad_nd(tp_tensor *self, const int64_t *pad, int64_t n_pad, const tp_scalar *value);
TP_API tp_tensor *tp_contiguous(tp_tensor *self);
TP_API tp_tensor *tp_conv1d(tp_tensor *input, tp_tensor *weight, tp_tensor *bias, const int64_t *stride,
                            int64_t n_stride, const int64_t *padding, int64_t n_padding, const int64_t *dilation,
                            int64_t n_dilation, int64_t groups);
TP_API tp_tensor *tp_conv1d_padding(tp_tensor *input, tp_tensor *weight, tp_tensor *bias, const int64_t *stride,
                                    int64_t n_stride, const char *padding, const int64_t *dilation, int64_t n_dilation,
                                    int64_t groups);
TP_API tp_tensor *tp_conv2d(tp_tensor *input, tp_tensor *weight, tp_tensor *bias, const int64_t *stride,
                            int64_t n_stride, const int64_t *padding, int64_t n_padding, const int64_t *dilation,
                            int64_t n_dilation, int64_t groups);
TP_API tp_tensor *tp_conv2d_padding(tp_tensor *input, tp_tensor *weight, tp_tensor *bias, const int64_t *stride,
                                    int64_t n_stride, const char *padding, const int64_t *dilation, int64_t n_dilation,
                                    int64_t groups);
TP_API tp_tensor *tp_conv3d(tp_tensor *input, tp_tensor *weight, tp_tensor *bias, const int64_t *stride,
                            int64_t n_stride, const int64_t *padding, int64_t n_padding, const int64_t *dilation,
                            int64_t n_dilation, int64_t groups);
TP_API tp_tensor *tp_conv3d_padding(tp_tensor *input, tp_tensor *weight, tp_tensor *bias, const int64_t *stride,
                                    int64_t n_stride, const char *padding, const int64_t *dilation, int64_t n_dilation,
                                    int64_t groups);
TP_API tp_tensor *tp_conv_transpose1d(tp_tensor *input, tp_tensor *weight, tp_tensor *bias, const int64_t *stride,
                                      int64_t n_stride, const int64_t *padding, int64_t n_padding,
                                      const int64_t *output_padding, int64_t n_output_padding, int64_t groups,
                                      const int64_t *dilation, int64_t n_dilation);
TP_API tp_tensor *tp_conv_transpose2d(tp_tensor *input, tp_tensor *weight, tp_tensor *bias, const int64_t *stride,
                                      int64_t n_stride, const int64_t *padding, int64_t n_padding,
                                      const int64_t *output_padding, int64_t n_output_padding, int64_t groups,
                                      const int64_t *dilation, int64_t n_dilation);
TP_API tp_tensor *tp_conv_transpose3d(tp_tensor *input, tp_tensor *weight, tp_tensor *bias, const int64_t *stride,
                                      int64_t n_stride, const int64_t *padding, int64_t n_padding,
                                      const int64_t *output_padding, int64_t n_output_padding, int64_t groups,
                                      const int64_t *dilation, int64_t n_dilation);
TP_API tp_tensor *tp_convolution(tp_tensor *input, tp_tensor *weight, tp_tensor *bias, const int64_t *stride,
                                 int64_t n_stride, const int64_t *padding, int64_t n_padding, const int64_t *dilation,
                                 int64_t n_dilation, bool transposed, const int64_t *output_padding,
                                 int64_t n_output_padding, int64_t groups);
TP_API tp_tensor *tp_copy(tp_tensor *self, tp_tensor *src);
TP_API int tp_copy_(tp_tensor *self, tp_tensor *src);
TP_API tp_tensor *tp_copysign(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_copysign_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_copysign_i(tp_tensor *self, int64_t other);
TP_API int tp_copysign_(tp_tensor *self, tp_tensor *other);
TP_API int tp_copysign_f_(tp_tensor *self, double other);
TP_API int tp_copysign_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_corrcoef(tp_tensor *self);
TP_API tp_tensor *tp_cos(tp_tensor *self);
TP_API int tp_cos_(tp_tensor *self);
TP_API tp_tensor *tp_cosh(tp_tensor *self);
TP_API int tp_cosh_(tp_tensor *self);
TP_API tp_tensor *tp_cosine_embedding_loss(tp_tensor *input1, tp_tensor *input2, tp_tensor *target, double margin,
                                           const char *reduction);
TP_API tp_tensor *tp_cosine_similarity(tp_tensor *x1, tp_tensor *x2, int64_t dim, double eps);
TP_API tp_tensor *tp_count_nonzero(tp_tensor *self, const int64_t *dim, int64_t n_dim);
TP_API tp_tensor *tp_cov(tp_tensor *self, int64_t correction, tp_tensor *fweights, tp_tensor *aweights);
TP_API tp_tensor *tp_cross(tp_tensor *self, tp_tensor *other, int64_t dim);
TP_API tp_tensor *tp_cross_entropy(tp_tensor *input, tp_tensor *target, tp_tensor *weight, int64_t ignore_index,
                                   const char *reduction, double label_smoothing);
TP_API int tp_cummax(tp_tensor *self, int64_t dim, tp_tensor **out);
TP_API int tp_cummin(tp_tensor *self, int64_t dim, tp_tensor **out);
TP_API tp_tensor *tp_cumprod(tp_tensor *self, int64_t dim, int dtype);
TP_API int tp_cumprod_(tp_tensor *self, int64_t dim, int dtype);
TP_API tp_tensor *tp_cumsum(tp_tensor *self, int64_t dim, int dtype);
TP_API int tp_cumsum_(tp_tensor *self, int64_t dim, int dtype);
TP_API tp_tensor *tp_cumulative_trapezoid(tp_tensor *y, tp_tensor *x, const tp_scalar *dx, int64_t dim);
TP_API tp_tensor *tp_deg2rad(tp_tensor *self);
TP_API int tp_deg2rad_(tp_tensor *self);
TP_API tp_tensor *tp_det(tp_tensor *self);
TP_API tp_tensor *tp_diag(tp_tensor *self, int64_t diagonal);
TP_API tp_tensor *tp_diag_embed(tp_tensor *self, int64_t offset, int64_t dim1, int64_t dim2);
TP_API tp_tensor *tp_diagflat(tp_tensor *self, int64_t offset);
TP_API tp_tensor *tp_diagonal(tp_tensor *self, int64_t offset, int64_t dim1, int64_t dim2);
TP_API tp_tensor *tp_diagonal_copy(tp_tensor *self, int64_t offset, int64_t dim1, int64_t dim2);
TP_API tp_tensor *tp_diagonal_scatter(tp_tensor *self, tp_tensor *src, int64_t offset, int64_t dim1, int64_t dim2);
TP_API tp_tensor *tp_diff(tp_tensor *self, int64_t n, int64_t dim, tp_tensor *prepend, tp_tensor *append);
TP_API tp_tensor *tp_digamma(tp_tensor *self);
TP_API int tp_digamma_(tp_tensor *self);
TP_API tp_tensor *tp_dist(tp_tensor *self, tp_tensor *other, const tp_scalar *p);
TP_API tp_tensor *tp_div(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_div_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_div_i(tp_tensor *self, int64_t other);
TP_API int tp_div_(tp_tensor *self, tp_tensor *other);
TP_API int tp_div_f_(tp_tensor *self, double other);
TP_API int tp_div_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_div_mode(tp_tensor *self, tp_tensor *other, const char *rounding_mode);
TP_API tp_tensor *tp_div_mode_f(tp_tensor *self, double other, const char *rounding_mode);
TP_API tp_tensor *tp_div_mode_i(tp_tensor *self, int64_t other, const char *rounding_mode);
TP_API int tp_div_mode_(tp_tensor *self, tp_tensor *other, const char *rounding_mode);
TP_API int tp_div_mode_f_(tp_tensor *self, double other, const char *rounding_mode);
TP_API int tp_div_mode_i_(tp_tensor *self, int64_t other, const char *rounding_mode);
TP_API tp_tensor *tp_dot(tp_tensor *self, tp_tensor *tensor);
TP_API tp_tensor *tp_dropout(tp_tensor *input, double p, bool training, bool inplace);
TP_API tp_tensor *tp_dropout1d(tp_tensor *input, double p, bool training, bool inplace);
TP_API tp_tensor *tp_dropout2d(tp_tensor *input, double p, bool training, bool inplace);
TP_API tp_tensor *tp_dropout3d(tp_tensor *input, double p, bool training, bool inplace);
TP_API int tp_dsplit(tp_tensor *self, int64_t sections, tp_tensor ***out, int64_t *n_out);
TP_API int tp_dsplit_indices(tp_tensor *self, const int64_t *indices, int64_t n_indices, tp_tensor ***out,
                             int64_t *n_out);
TP_API tp_tensor *tp_dstack(tp_tensor *const *tensors, int64_t n_tensors);
TP_API tp_tensor *tp_einsum(const char *equation, tp_tensor *const *operands, int64_t n_operands);
TP_API tp_tensor *tp_elu(tp_tensor *self, double alpha);
TP_API int tp_elu_(tp_tensor *self, double alpha);
TP_API tp_tensor *tp_empty(const int64_t *size, int64_t n_size, int dtype);
TP_API tp_tensor *tp_empty_like(tp_tensor *self, int dtype);
TP_API tp_tensor *tp_eq(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_eq_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_eq_i(tp_tensor *self, int64_t other);
TP_API int tp_eq_(tp_tensor *self, tp_tensor *other);
TP_API int tp_eq_f_(tp_tensor *self, double other);
TP_API int tp_eq_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_erf(tp_tensor *self);
TP_API int tp_erf_(tp_tensor *self);
TP_API tp_tensor *tp_erfc(tp_tensor *self);
TP_API int tp_erfc_(tp_tensor *self);
TP_API tp_tensor *tp_erfinv(tp_tensor *self);
TP_API int tp_erfinv_(tp_tensor *self);
TP_API tp_tensor *tp_exp(tp_tensor *self);
TP_API int tp_exp_(tp_tensor *self);
TP_API tp_tensor *tp_exp2(tp_tensor *self);
TP_API int tp_exp2_(tp_tensor *self);
TP_API tp_tensor *tp_expand(tp_tensor *self, const int64_t *size, int64_t n_size);
TP_API tp_tensor *tp_expand_as(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_expand_copy(tp_tensor *self, const int64_t *size, int64_t n_size);
TP_API tp_tensor *tp_expm1(tp_tensor *self);
TP_API int tp_expm1_(tp_tensor *self);
TP_API tp_tensor *tp_exponential(tp_tensor *self, double lambd, tp_generator *generator);
TP_API int tp_exponential_(tp_tensor *self, double lambd, tp_generator *generator);
TP_API tp_tensor *tp_eye(int64_t n, int64_t m, int dtype);
TP_API tp_tensor *tp_fft_fft(tp_tensor *self, int64_t n, int64_t dim, const char *norm);
TP_API tp_tensor *tp_fft_fft2(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                              const char *norm);
TP_API tp_tensor *tp_fft_fftfreq(int64_t n, double d, int dtype);
TP_API tp_tensor *tp_fft_fftn(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                              const char *norm);
TP_API tp_tensor *tp_fft_fftshift(tp_tensor *self, const int64_t *dim, int64_t n_dim);
TP_API tp_tensor *tp_fft_hfft(tp_tensor *self, int64_t n, int64_t dim, const char *norm);
TP_API tp_tensor *tp_fft_hfft2(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                               const char *norm);
TP_API tp_tensor *tp_fft_hfftn(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                               const char *norm);
TP_API tp_tensor *tp_fft_ifft(tp_tensor *self, int64_t n, int64_t dim, const char *norm);
TP_API tp_tensor *tp_fft_ifft2(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                               const char *norm);
TP_API tp_tensor *tp_fft_ifftn(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                               const char *norm);
TP_API tp_tensor *tp_fft_ifftshift(tp_tensor *self, const int64_t *dim, int64_t n_dim);
TP_API tp_tensor *tp_fft_ihfft(tp_tensor *self, int64_t n, int64_t dim, const char *norm);
TP_API tp_tensor *tp_fft_ihfft2(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                                const char *norm);
TP_API tp_tensor *tp_fft_ihfftn(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                                const char *norm);
TP_API tp_tensor *tp_fft_irfft(tp_tensor *self, int64_t n, int64_t dim, const char *norm);
TP_API tp_tensor *tp_fft_irfft2(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                                const char *norm);
TP_API tp_tensor *tp_fft_irfftn(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                                const char *norm);
TP_API tp_tensor *tp_fft_rfft(tp_tensor *self, int64_t n, int64_t dim, const char *norm);
TP_API tp_tensor *tp_fft_rfft2(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                               const char *norm);
TP_API tp_tensor *tp_fft_rfftfreq(int64_t n, double d, int dtype);
TP_API tp_tensor *tp_fft_rfftn(tp_tensor *self, const int64_t *s, int64_t n_s, const int64_t *dim, int64_t n_dim,
                               const char *norm);
TP_API tp_tensor *tp_fill(tp_tensor *self, tp_tensor *value);
TP_API tp_tensor *tp_fill_f(tp_tensor *self, double value);
TP_API tp_tensor *tp_fill_i(tp_tensor *self, int64_t value);
TP_API int tp_fill_(tp_tensor *self, tp_tensor *value);
TP_API int tp_fill_f_(tp_tensor *self, double value);
TP_API int tp_fill_i_(tp_tensor *self, int64_t value);
TP_API tp_tensor *tp_fill_diagonal(tp_tensor *self, const tp_scalar *fill_value, bool wrap);
TP_API int tp_fill_diagonal_(tp_tensor *self, const tp_scalar *fill_value, bool wrap);
TP_API tp_tensor *tp_flatten(tp_tensor *self, int64_t start_dim, int64_t end_dim);
TP_API tp_tensor *tp_flip(tp_tensor *self, const int64_t *dims, int64_t n_dims);
TP_API tp_tensor *tp_fliplr(tp_tensor *self);
TP_API tp_tensor *tp_flipud(tp_tensor *self);
TP_API tp_tensor *tp_float_power(tp_tensor *self, tp_tensor *exponent);
TP_API tp_tensor *tp_float_power_f(tp_tensor *self, double exponent);
TP_API tp_tensor *tp_float_power_i(tp_tensor *self, int64_t exponent);
TP_API int tp_float_power_(tp_tensor *self, tp_tensor *exponent);
TP_API int tp_float_power_f_(tp_tensor *self, double exponent);
TP_API int tp_float_power_i_(tp_tensor *self, int64_t exponent);
TP_API tp_tensor *tp_float_power_scalar(const tp_scalar *self, tp_tensor *exponent);
TP_API tp_tensor *tp_floor(tp_tensor *self);
TP_API int tp_floor_(tp_tensor *self);
TP_API tp_tensor *tp_floor_divide(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_floor_divide_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_floor_divide_i(tp_tensor *self, int64_t other);
TP_API int tp_floor_divide_(tp_tensor *self, tp_tensor *other);
TP_API int tp_floor_divide_f_(tp_tensor *self, double other);
TP_API int tp_floor_divide_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_fmax(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_fmax_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_fmax_i(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_fmin(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_fmin_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_fmin_i(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_fmod(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_fmod_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_fmod_i(tp_tensor *self, int64_t other);
TP_API int tp_fmod_(tp_tensor *self, tp_tensor *other);
TP_API int tp_fmod_f_(tp_tensor *self, double other);
TP_API int tp_fmod_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_frac(tp_tensor *self);
TP_API int tp_frac_(tp_tensor *self);
TP_API int tp_frexp(tp_tensor *self, tp_tensor **out);
TP_API tp_tensor *tp_full(const int64_t *size, int64_t n_size, const tp_scalar *fill_value, int dtype);
TP_API tp_tensor *tp_full_like(tp_tensor *self, const tp_scalar *fill_value, int dtype);
TP_API tp_tensor *tp_gather(tp_tensor *self, int64_t dim, tp_tensor *index);
TP_API tp_tensor *tp_gcd(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_gcd_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_gcd_i(tp_tensor *self, int64_t other);
TP_API int tp_gcd_(tp_tensor *self, tp_tensor *other);
TP_API int tp_gcd_f_(tp_tensor *self, double other);
TP_API int tp_gcd_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_ge(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_ge_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_ge_i(tp_tensor *self, int64_t other);
TP_API int tp_ge_(tp_tensor *self, tp_tensor *other);
TP_API int tp_ge_f_(tp_tensor *self, double other);
TP_API int tp_ge_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_gelu(tp_tensor *self, const char *approximate);
TP_API tp_tensor *tp_geometric(tp_tensor *self, double p, tp_generator *generator);
TP_API int tp_geometric_(tp_tensor *self, double p, tp_generator *generator);
TP_API int tp_geqrf(tp_tensor *self, tp_tensor **out);
TP_API tp_tensor *tp_glu(tp_tensor *input, int64_t dim);
TP_API int tp_gradient(tp_tensor *self, const double *spacing, int64_t n_spacing, const int64_t *dim, int64_t n_dim,
                       int64_t edge_order, tp_tensor ***out, int64_t *n_out);
TP_API int tp_gradient_coordinates(tp_tensor *self, tp_tensor *const *spacing, int64_t n_spacing, const int64_t *dim,
                                   int64_t n_dim, int64_t edge_order, tp_tensor ***out, int64_t *n_out);
TP_API tp_tensor *tp_grid_sampler_2d(tp_tensor *input, tp_tensor *grid, int64_t interpolation_mode,
                                     int64_t padding_mode, bool align_corners);
TP_API tp_tensor *tp_grid_sampler_3d(tp_tensor *input, tp_tensor *grid, int64_t interpolation_mode,
                                     int64_t padding_mode, bool align_corners);
TP_API tp_tensor *tp_group_norm(tp_tensor *input, int64_t num_groups, tp_tensor *weight, tp_tensor *bias, double eps);
TP_API tp_tensor *tp_gt(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_gt_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_gt_i(tp_tensor *self, int64_t other);
TP_API int tp_gt_(tp_tensor *self, tp_tensor *other);
TP_API int tp_gt_f_(tp_tensor *self, double other);
TP_API int tp_gt_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_hardshrink(tp_tensor *input, double lambd);
TP_API tp_tensor *tp_hardsigmoid(tp_tensor *input);
TP_API tp_tensor *tp_hardswish(tp_tensor *input);
TP_API tp_tensor *tp_hardtanh(tp_tensor *input, double min_val, double max_val);
TP_API tp_tensor *tp_heaviside(tp_tensor *self, tp_tensor *values);
TP_API tp_tensor *tp_heaviside_f(tp_tensor *self, double values);
TP_API tp_tensor *tp_heaviside_i(tp_tensor *self, int64_t values);
TP_API int tp_heaviside_(tp_tensor *self, tp_tensor *values);
TP_API int tp_heaviside_f_(tp_tensor *self, double values);
TP_API int tp_heaviside_i_(tp_tensor *self, int64_t values);
TP_API tp_tensor *tp_hinge_embedding_loss(tp_tensor *input, tp_tensor *target, double margin, const char *reduction);
TP_API tp_tensor *tp_histc(tp_tensor *self, int64_t bins, const tp_scalar *min, const tp_scalar *max);
TP_API int tp_histogram(tp_tensor *self, int64_t bins, const double *range, int64_t n_range, tp_tensor *weight,
                        bool density, tp_tensor **out);
TP_API int tp_histogram_edges(tp_tensor *self, tp_tensor *bins, tp_tensor *weight, bool density, tp_tensor **out);
TP_API int tp_hsplit(tp_tensor *self, int64_t sections, tp_tensor ***out, int64_t *n_out);
TP_API int tp_hsplit_indices(tp_tensor *self, const int64_t *indices, int64_t n_indices, tp_tensor ***out,
                             int64_t *n_out);
TP_API tp_tensor *tp_hstack(tp_tensor *const *tensors, int64_t n_tensors);
TP_API tp_tensor *tp_huber_loss(tp_tensor *input, tp_tensor *target, const char *reduction, double delta);
TP_API tp_tensor *tp_hypot(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_hypot_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_hypot_i(tp_tensor *self, int64_t other);
TP_API int tp_hypot_(tp_tensor *self, tp_tensor *other);
TP_API int tp_hypot_f_(tp_tensor *self, double other);
TP_API int tp_hypot_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_i0(tp_tensor *self);
TP_API int tp_i0_(tp_tensor *self);
TP_API tp_tensor *tp_igamma(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_igamma_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_igamma_i(tp_tensor *self, int64_t other);
TP_API int tp_igamma_(tp_tensor *self, tp_tensor *other);
TP_API int tp_igamma_f_(tp_tensor *self, double other);
TP_API int tp_igamma_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_igammac(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_igammac_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_igammac_i(tp_tensor *self, int64_t other);
TP_API int tp_igammac_(tp_tensor *self, tp_tensor *other);
TP_API int tp_igammac_f_(tp_tensor *self, double other);
TP_API int tp_igammac_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_imag(tp_tensor *self);
TP_API tp_tensor *tp_index(tp_tensor *self, tp_tensor *const *indices, int64_t n_indices);
TP_API tp_tensor *tp_index_add(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *source,
                               const tp_scalar *alpha);
TP_API int tp_index_add_(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *source, const tp_scalar *alpha);
TP_API tp_tensor *tp_index_copy(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *source);
TP_API int tp_index_copy_(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *source);
TP_API tp_tensor *tp_index_fill(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *value);
TP_API int tp_index_fill_(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *value);
TP_API tp_tensor *tp_index_put(tp_tensor *self, tp_tensor *const *indices, int64_t n_indices, tp_tensor *values,
                               bool accumulate);
TP_API int tp_index_put_(tp_tensor *self, tp_tensor *const *indices, int64_t n_indices, tp_tensor *values,
                         bool accumulate);
TP_API tp_tensor *tp_index_reduce(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *source, const char *reduce,
                                  bool include_self);
TP_API int tp_index_reduce_(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *source, const char *reduce,
                            bool include_self);
TP_API tp_tensor *tp_index_select(tp_tensor *self, int64_t dim, tp_tensor *index);
TP_API tp_tensor *tp_inner(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_instance_norm(tp_tensor *input, tp_tensor *running_mean, tp_tensor *running_var, tp_tensor *weight,
                                   tp_tensor *bias, bool use_input_stats, double momentum, double eps);
TP_API tp_tensor *tp_interpolate_dim(tp_tensor *input, int64_t dim, int64_t size, const char *mode, const double *scale,
                                     bool align_corners, bool antialias);
TP_API tp_tensor *tp_inverse(tp_tensor *self);
TP_API tp_tensor *tp_isclose(tp_tensor *self, tp_tensor *other, double rtol, double atol, bool equal_nan);
TP_API tp_tensor *tp_isclose_f(tp_tensor *self, double other, double rtol, double atol, bool equal_nan);
TP_API tp_tensor *tp_isclose_i(tp_tensor *self, int64_t other, double rtol, double atol, bool equal_nan);
TP_API tp_tensor *tp_isfinite(tp_tensor *self);
TP_API tp_tensor *tp_isin(tp_tensor *elements, tp_tensor *test_elements, bool assume_unique, bool invert);
TP_API tp_tensor *tp_isinf(tp_tensor *self);
TP_API tp_tensor *tp_isnan(tp_tensor *self);
TP_API tp_tensor *tp_isneginf(tp_tensor *self);
TP_API tp_tensor *tp_isposinf(tp_tensor *self);
TP_API tp_tensor *tp_isreal(tp_tensor *self);
TP_API tp_tensor *tp_istft(tp_tensor *self, int64_t n_fft, int64_t hop_length, int64_t win_length, tp_tensor *window,
                           bool center, bool normalized, int onesided, int64_t length, bool return_complex);
TP_API tp_tensor *tp_kl_div(tp_tensor *input, tp_tensor *target, const char *reduction, bool log_target);
TP_API tp_tensor *tp_kron(tp_tensor *self, tp_tensor *other);
TP_API int tp_kthvalue(tp_tensor *self, int64_t k, int64_t dim, bool keepdim, tp_tensor **out);
TP_API tp_tensor *tp_l1_loss(tp_tensor *input, tp_tensor *target, const char *reduction);
TP_API tp_tensor *tp_layer_norm(tp_tensor *input, const int64_t *normalized_shape, int64_t n_normalized_shape,
                                tp_tensor *weight, tp_tensor *bias, double eps);
TP_API tp_tensor *tp_lcm(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_lcm_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_lcm_i(tp_tensor *self, int64_t other);
TP_API int tp_lcm_(tp_tensor *self, tp_tensor *other);
TP_API int tp_lcm_f_(tp_tensor *self, double other);
TP_API int tp_lcm_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_ldexp(tp_tensor *self, tp_tensor *other);
TP_API int tp_ldexp_(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_le(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_le_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_le_i(tp_tensor *self, int64_t other);
TP_API int tp_le_(tp_tensor *self, tp_tensor *other);
TP_API int tp_le_f_(tp_tensor *self, double other);
TP_API int tp_le_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_leaky_relu(tp_tensor *self, double negative_slope);
TP_API int tp_leaky_relu_(tp_tensor *self, double negative_slope);
TP_API tp_tensor *tp_lerp(tp_tensor *self, tp_tensor *end, tp_tensor *weight);
TP_API int tp_lerp_(tp_tensor *self, tp_tensor *end, tp_tensor *weight);
TP_API tp_tensor *tp_lgamma(tp_tensor *self);
TP_API int tp_lgamma_(tp_tensor *self);
TP_API tp_tensor *tp_linalg_cholesky(tp_tensor *self, bool upper);
TP_API int tp_linalg_cholesky_ex(tp_tensor *self, bool upper, bool check_errors, tp_tensor **out);
TP_API tp_tensor *tp_linalg_cond(tp_tensor *self, const tp_scalar *p);
TP_API tp_tensor *tp_linalg_cond_str(tp_tensor *self, const char *p);
TP_API tp_tensor *tp_linalg_cross(tp_tensor *self, tp_tensor *other, int64_t dim);
TP_API tp_tensor *tp_linalg_det(tp_tensor *A);
TP_API tp_tensor *tp_linalg_diagonal(tp_tensor *A, int64_t offset, int64_t dim1, int64_t dim2);
TP_API int tp_linalg_eig(tp_tensor *A, tp_tensor **out);
TP_API int tp_linalg_eigh(tp_tensor *A, const char *UPLO, tp_tensor **out);
TP_API tp_tensor *tp_linalg_eigvals(tp_tensor *A);
TP_API tp_tensor *tp_linalg_eigvalsh(tp_tensor *A, const char *UPLO);
TP_API tp_tensor *tp_linalg_householder_product(tp_tensor *input, tp_tensor *tau);
TP_API tp_tensor *tp_linalg_inv(tp_tensor *A);
TP_API int tp_linalg_inv_ex(tp_tensor *A, bool check_errors, tp_tensor **out);
TP_API int tp_linalg_ldl_factor(tp_tensor *self, bool hermitian, tp_tensor **out);
TP_API int tp_linalg_ldl_factor_ex(tp_tensor *self, bool hermitian, bool check_errors, tp_tensor **out);
TP_API tp_tensor *tp_linalg_ldl_solve(tp_tensor *LD, tp_tensor *pivots, tp_tensor *B, bool hermitian);
TP_API int tp_linalg_lstsq(tp_tensor *self, tp_tensor *b, const double *rcond, const char *driver, tp_tensor **out);
TP_API int tp_linalg_lu(tp_tensor *A, bool pivot, tp_tensor **out);
TP_API int tp_linalg_lu_factor(tp_tensor *A, bool pivot, tp_tensor **out);
TP_API int tp_linalg_lu_factor_ex(tp_tensor *A, bool pivot, bool check_errors, tp_tensor **out);
TP_API tp_tensor *tp_linalg_lu_solve(tp_tensor *LU, tp_tensor *pivots, tp_tensor *B, bool left, bool adjoint);
TP_API tp_tensor *tp_linalg_matmul(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_linalg_matrix_exp(tp_tensor *A);
TP_API tp_tensor *tp_linalg_matrix_norm(tp_tensor *self, const tp_scalar *ord, const int64_t *dim, int64_t n_dim,
                                        bool keepdim, int dtype);
TP_API tp_tensor *tp_linalg_matrix_norm_str(tp_tensor *self, const char *ord, const int64_t *dim, int64_t n_dim,
                                            bool keepdim, int dtype);
TP_API tp_tensor *tp_linalg_matrix_power(tp_tensor *self, int64_t n);
TP_API tp_tensor *tp_linalg_matrix_rank(tp_tensor *self, const double *atol, const double *rtol, bool hermitian);
TP_API tp_tensor *tp_linalg_matrix_rank_tensor(tp_tensor *self, tp_tensor *atol, tp_tensor *rtol, bool hermitian);
TP_API tp_tensor *tp_linalg_matrix_rank_tol(tp_tensor *self, double tol, bool hermitian);
TP_API tp_tensor *tp_linalg_matrix_rank_tol_tensor(tp_tensor *self, tp_tensor *tol, bool hermitian);
TP_API tp_tensor *tp_linalg_multi_dot(tp_tensor *const *tensors, int64_t n_tensors);
TP_API tp_tensor *tp_linalg_norm(tp_tensor *self, const tp_scalar *ord, const int64_t *dim, int64_t n_dim, bool keepdim,
                                 int dtype);
TP_API tp_tensor *tp_linalg_norm_str(tp_tensor *self, const char *ord, const int64_t *dim, int64_t n_dim, bool keepdim,
                                     int dtype);
TP_API tp_tensor *tp_linalg_pinv(tp_tensor *self, const double *atol, const double *rtol, bool hermitian);
TP_API tp_tensor *tp_linalg_pinv_rcond(tp_tensor *self, double rcond, bool hermitian);
TP_API tp_tensor *tp_linalg_pinv_tensor(tp_tensor *self, tp_tensor *atol, tp_tensor *rtol, bool hermitian);
TP_API int tp_linalg_qr(tp_tensor *A, const char *mode, tp_tensor **out);
TP_API int tp_linalg_slogdet(tp_tensor *A, tp_tensor **out);
TP_API tp_tensor *tp_linalg_solve(tp_tensor *A, tp_tensor *B, bool left);
TP_API int tp_linalg_solve_ex(tp_tensor *A, tp_tensor *B, bool left, bool check_errors, tp_tensor **out);
TP_API tp_tensor *tp_linalg_solve_triangular(tp_tensor *self, tp_tensor *B, bool upper, bool left, bool unitriangular);
TP_API int tp_linalg_svd(tp_tensor *A, bool full_matrices, tp_tensor **out);
TP_API tp_tensor *tp_linalg_svdvals(tp_tensor *A);
TP_API tp_tensor *tp_linalg_tensorinv(tp_tensor *self, int64_t ind);
TP_API tp_tensor *tp_linalg_tensorsolve(tp_tensor *self, tp_tensor *other, const int64_t *dims, int64_t n_dims);
TP_API tp_tensor *tp_linalg_vander(tp_tensor *x, int64_t N);
TP_API tp_tensor *tp_linalg_vecdot(tp_tensor *x, tp_tensor *y, int64_t dim);
TP_API tp_tensor *tp_linalg_vector_norm(tp_tensor *self, const tp_scalar *ord, const int64_t *dim, int64_t n_dim,
                                        bool keepdim, int dtype);
TP_API tp_tensor *tp_linear(tp_tensor *input, tp_tensor *weight, tp_tensor *bias);
TP_API tp_tensor *tp_linspace(const tp_scalar *start, const tp_scalar *end, int64_t steps, int dtype);
TP_API tp_tensor *tp_linspace_tensors(tp_tensor *start, tp_tensor *end, int64_t steps, int dtype);
TP_API tp_tensor *tp_local_response_norm(tp_tensor *input, int64_t size, double alpha, double beta, double k);
TP_API tp_tensor *tp_log(tp_tensor *self);
TP_API int tp_log_(tp_tensor *self);
TP_API tp_tensor *tp_log10(tp_tensor *self);
TP_API int tp_log10_(tp_tensor *self);
TP_API tp_tensor *tp_log1p(tp_tensor *self);
TP_API int tp_log1p_(tp_tensor *self);
TP_API tp_tensor *tp_log2(tp_tensor *self);
TP_API int tp_log2_(tp_tensor *self);
TP_API tp_tensor *tp_log_normal(tp_tensor *self, double mean, double std, tp_generator *generator);
TP_API int tp_log_normal_(tp_tensor *self, double mean, double std, tp_generator *generator);
TP_API tp_tensor *tp_log_softmax(tp_tensor *self, int64_t dim, int dtype);
TP_API tp_tensor *tp_logaddexp(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_logaddexp_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_logaddexp_i(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_logaddexp2(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_logaddexp2_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_logaddexp2_i(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_logcumsumexp(tp_tensor *self, int64_t dim);
TP_API tp_tensor *tp_logdet(tp_tensor *self);
TP_API tp_tensor *tp_logical_and(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_logical_and_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_logical_and_i(tp_tensor *self, int64_t other);
TP_API int tp_logical_and_(tp_tensor *self, tp_tensor *other);
TP_API int tp_logical_and_f_(tp_tensor *self, double other);
TP_API int tp_logical_and_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_logical_not(tp_tensor *self);
TP_API int tp_logical_not_(tp_tensor *self);
TP_API tp_tensor *tp_logical_or(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_logical_or_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_logical_or_i(tp_tensor *self, int64_t other);
TP_API int tp_logical_or_(tp_tensor *self, tp_tensor *other);
TP_API int tp_logical_or_f_(tp_tensor *self, double other);
TP_API int tp_logical_or_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_logical_xor(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_logical_xor_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_logical_xor_i(tp_tensor *self, int64_t other);
TP_API int tp_logical_xor_(tp_tensor *self, tp_tensor *other);
TP_API int tp_logical_xor_f_(tp_tensor *self, double other);
TP_API int tp_logical_xor_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_logit(tp_tensor *self, const double *eps);
TP_API int tp_logit_(tp_tensor *self, const double *eps);
TP_API tp_tensor *tp_logsigmoid(tp_tensor *input);
TP_API tp_tensor *tp_logspace(const tp_scalar *start, const tp_scalar *end, int64_t steps, double base, int dtype);
TP_API tp_tensor *tp_logspace_tensors(tp_tensor *start, tp_tensor *end, int64_t steps, double base, int dtype);
TP_API tp_tensor *tp_logsumexp(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim);
TP_API tp_tensor *tp_lp_pool1d(tp_tensor *input, double norm_type, const int64_t *kernel_size, int64_t n_kernel_size,
                               const int64_t *stride, int64_t n_stride, bool ceil_mode);
TP_API tp_tensor *tp_lp_pool2d(tp_tensor *input, double norm_type, const int64_t *kernel_size, int64_t n_kernel_size,
                               const int64_t *stride, int64_t n_stride, bool ceil_mode);
TP_API tp_tensor *tp_lp_pool3d(tp_tensor *input, double norm_type, const int64_t *kernel_size, int64_t n_kernel_size,
                               const int64_t *stride, int64_t n_stride, bool ceil_mode);
TP_API tp_tensor *tp_lt(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_lt_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_lt_i(tp_tensor *self, int64_t other);
TP_API int tp_lt_(tp_tensor *self, tp_tensor *other);
TP_API int tp_lt_f_(tp_tensor *self, double other);
TP_API int tp_lt_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_lu_solve(tp_tensor *self, tp_tensor *LU_data, tp_tensor *LU_pivots);
TP_API int tp_lu_unpack(tp_tensor *LU_data, tp_tensor *LU_pivots, bool unpack_data, bool unpack_pivots,
                        tp_tensor **out);
TP_API tp_tensor *tp_margin_ranking_loss(tp_tensor *input1, tp_tensor *input2, tp_tensor *target, double margin,
                                         const char *reduction);
TP_API tp_tensor *tp_masked_amax(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim, int dtype,
                                 tp_tensor *mask);
TP_API tp_tensor *tp_masked_amin(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim, int dtype,
                                 tp_tensor *mask);
TP_API tp_tensor *tp_masked_argmax(tp_tensor *self, int64_t dim, bool keepdim, int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_masked_argmin(tp_tensor *self, int64_t dim, bool keepdim, int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_masked_cumprod(tp_tensor *self, int64_t dim, int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_masked_cumsum(tp_tensor *self, int64_t dim, int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_masked_fill(tp_tensor *self, tp_tensor *mask, tp_tensor *value);
TP_API int tp_masked_fill_(tp_tensor *self, tp_tensor *mask, tp_tensor *value);
TP_API tp_tensor *tp_masked_log_softmax(tp_tensor *self, int64_t dim, int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_masked_logaddexp(tp_tensor *self, tp_tensor *other, int dtype, tp_tensor *input_mask,
                                      tp_tensor *other_mask);
TP_API tp_tensor *tp_masked_logsumexp(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim, int dtype,
                                      tp_tensor *mask);
TP_API tp_tensor *tp_masked_mean(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim, int dtype,
                                 tp_tensor *mask);
TP_API tp_tensor *tp_masked_median(tp_tensor *self, int64_t dim, bool keepdim, int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_masked_norm(tp_tensor *self, const tp_scalar *ord, const int64_t *dim, int64_t n_dim, bool keepdim,
                                 int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_masked_normalize(tp_tensor *self, const tp_scalar *ord, int64_t dim, double eps, int dtype,
                                      tp_tensor *mask);
TP_API tp_tensor *tp_masked_prod(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim, int dtype,
                                 tp_tensor *mask);
TP_API tp_tensor *tp_masked_scatter(tp_tensor *self, tp_tensor *mask, tp_tensor *source);
TP_API int tp_masked_scatter_(tp_tensor *self, tp_tensor *mask, tp_tensor *source);
TP_API tp_tensor *tp_masked_select(tp_tensor *self, tp_tensor *mask);
TP_API tp_tensor *tp_masked_softmax(tp_tensor *self, int64_t dim, int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_masked_softmin(tp_tensor *self, int64_t dim, int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_masked_std(tp_tensor *self, const int64_t *dim, int64_t n_dim, int unbiased,
                                const double *correction, bool keepdim, int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_masked_sum(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim, int dtype,
                                tp_tensor *mask);
TP_API tp_tensor *tp_masked_var(tp_tensor *self, const int64_t *dim, int64_t n_dim, int unbiased,
                                const double *correction, bool keepdim, int dtype, tp_tensor *mask);
TP_API tp_tensor *tp_matmul(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_matrix_exp(tp_tensor *self);
TP_API tp_tensor *tp_matrix_power(tp_tensor *self, int64_t n);
TP_API tp_tensor *tp_max(tp_tensor *self);
TP_API int tp_max_dim(tp_tensor *self, int64_t dim, bool keepdim, tp_tensor **out);
TP_API tp_tensor *tp_max_other(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_max_pool1d(tp_tensor *input, const int64_t *kernel_size, int64_t n_kernel_size,
                                const int64_t *stride, int64_t n_stride, const int64_t *padding, int64_t n_padding,
                                const int64_t *dilation, int64_t n_dilation, bool ceil_mode);
TP_API int tp_max_pool1d_with_indices(tp_tensor *input, const int64_t *kernel_size, int64_t n_kernel_size,
                                      const int64_t *stride, int64_t n_stride, const int64_t *padding,
                                      int64_t n_padding, const int64_t *dilation, int64_t n_dilation, bool ceil_mode,
                                      tp_tensor **out);
TP_API tp_tensor *tp_max_pool2d(tp_tensor *input, const int64_t *kernel_size, int64_t n_kernel_size,
                                const int64_t *stride, int64_t n_stride, const int64_t *padding, int64_t n_padding,
                                const int64_t *dilation, int64_t n_dilation, bool ceil_mode);
TP_API int tp_max_pool2d_with_indices(tp_tensor *input, const int64_t *kernel_size, int64_t n_kernel_size,
                                      const int64_t *stride, int64_t n_stride, const int64_t *padding,
                                      int64_t n_padding, const int64_t *dilation, int64_t n_dilation, bool ceil_mode,
                                      tp_tensor **out);
TP_API tp_tensor *tp_max_pool3d(tp_tensor *input, const int64_t *kernel_size, int64_t n_kernel_size,
                                const int64_t *stride, int64_t n_stride, const int64_t *padding, int64_t n_padding,
                                const int64_t *dilation, int64_t n_dilation, bool ceil_mode);
TP_API int tp_max_pool3d_with_indices(tp_tensor *input, const int64_t *kernel_size, int64_t n_kernel_size,
                                      const int64_t *stride, int64_t n_stride, const int64_t *padding,
                                      int64_t n_padding, const int64_t *dilation, int64_t n_dilation, bool ceil_mode,
                                      tp_tensor **out);
TP_API tp_tensor *tp_max_unpool1d(tp_tensor *input, tp_tensor *indices, const int64_t *kernel_size,
                                  int64_t n_kernel_size, const int64_t *stride, int64_t n_stride,
                                  const int64_t *padding, int64_t n_padding, const int64_t *output_size,
                                  int64_t n_output_size);
TP_API tp_tensor *tp_max_unpool2d(tp_tensor *input, tp_tensor *indices, const int64_t *kernel_size,
                                  int64_t n_kernel_size, const int64_t *stride, int64_t n_stride,
                                  const int64_t *padding, int64_t n_padding, const int64_t *output_size,
                                  int64_t n_output_size);
TP_API tp_tensor *tp_max_unpool3d(tp_tensor *input, tp_tensor *indices, const int64_t *kernel_size,
                                  int64_t n_kernel_size, const int64_t *stride, int64_t n_stride,
                                  const int64_t *padding, int64_t n_padding, const int64_t *output_size,
                                  int64_t n_output_size);
TP_API tp_tensor *tp_maximum(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_maximum_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_maximum_i(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_mean(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim, int dtype);
TP_API tp_tensor *tp_median(tp_tensor *self);
TP_API int tp_median_dim(tp_tensor *self, int64_t dim, bool keepdim, tp_tensor **out);
TP_API int tp_meshgrid(tp_tensor *const *tensors, int64_t n_tensors, const char *indexing, tp_tensor ***out,
                       int64_t *n_out);
TP_API tp_tensor *tp_min(tp_tensor *self);
TP_API int tp_min_dim(tp_tensor *self, int64_t dim, bool keepdim, tp_tensor **out);
TP_API tp_tensor *tp_min_other(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_minimum(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_minimum_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_minimum_i(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_mish(tp_tensor *input);
TP_API tp_tensor *tp_mm(tp_tensor *self, tp_tensor *mat2);
TP_API int tp_mode(tp_tensor *self, int64_t dim, bool keepdim, tp_tensor **out);
TP_API tp_tensor *tp_movedim(tp_tensor *self, const int64_t *source, int64_t n_source, const int64_t *destination,
                             int64_t n_destination);
TP_API tp_tensor *tp_mse_loss(tp_tensor *input, tp_tensor *target, const char *reduction);
TP_API tp_tensor *tp_msort(tp_tensor *self);
TP_API tp_tensor *tp_mul(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_mul_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_mul_i(tp_tensor *self, int64_t other);
TP_API int tp_mul_(tp_tensor *self, tp_tensor *other);
TP_API int tp_mul_f_(tp_tensor *self, double other);
TP_API int tp_mul_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_multi_margin_loss(tp_tensor *input, tp_tensor *target, int64_t p, double margin, tp_tensor *weight,
                                       const char *reduction);
TP_API tp_tensor *tp_multilabel_margin_loss(tp_tensor *input, tp_tensor *target, const char *reduction);
TP_API tp_tensor *tp_multilabel_soft_margin_loss(tp_tensor *input, tp_tensor *target, tp_tensor *weight,
                                                 const char *reduction);
TP_API tp_tensor *tp_multinomial(tp_tensor *self, int64_t num_samples, bool replacement, tp_generator *generator);
TP_API tp_tensor *tp_mv(tp_tensor *self, tp_tensor *vec);
TP_API tp_tensor *tp_mvlgamma(tp_tensor *self, int64_t p);
TP_API int tp_mvlgamma_(tp_tensor *self, int64_t p);
TP_API tp_tensor *tp_nan_to_num(tp_tensor *self, const double *nan, const double *posinf, const double *neginf);
TP_API int tp_nan_to_num_(tp_tensor *self, const double *nan, const double *posinf, const double *neginf);
TP_API tp_tensor *tp_nanmean(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim, int dtype);
TP_API tp_tensor *tp_nanmedian(tp_tensor *self);
TP_API int tp_nanmedian_dim(tp_tensor *self, int64_t dim, bool keepdim, tp_tensor **out);
TP_API tp_tensor *tp_nanquantile(tp_tensor *self, tp_tensor *q, int64_t dim, bool keepdim, const char *interpolation);
TP_API tp_tensor *tp_nanquantile_number(tp_tensor *self, double q, int64_t dim, bool keepdim,
                                        const char *interpolation);
TP_API tp_tensor *tp_nansum(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim, int dtype);
TP_API tp_tensor *tp_narrow(tp_tensor *self, int64_t dim, int64_t start, int64_t length);
TP_API tp_tensor *tp_narrow_tensor(tp_tensor *self, int64_t dim, tp_tensor *start, int64_t length);
TP_API tp_tensor *tp_narrow_copy(tp_tensor *self, int64_t dim, int64_t start, int64_t length);
TP_API tp_tensor *tp_narrow_copy_tensor(tp_tensor *self, int64_t dim, tp_tensor *start, int64_t length);
TP_API tp_tensor *tp_ne(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_ne_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_ne_i(tp_tensor *self, int64_t other);
TP_API int tp_ne_(tp_tensor *self, tp_tensor *other);
TP_API int tp_ne_f_(tp_tensor *self, double other);
TP_API int tp_ne_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_neg(tp_tensor *self);
TP_API int tp_neg_(tp_tensor *self);
TP_API tp_tensor *tp_nextafter(tp_tensor *self, tp_tensor *other);
TP_API int tp_nextafter_(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_nll_loss(tp_tensor *input, tp_tensor *target, tp_tensor *weight, int64_t ignore_index,
                              const char *reduction);
TP_API tp_tensor *tp_nn_functional_fold(tp_tensor *input, const int64_t *output_size, int64_t n_output_size,
                                        const int64_t *kernel_size, int64_t n_kernel_size, const int64_t *dilation,
                                        int64_t n_dilation, const int64_t *padding, int64_t n_padding,
                                        const int64_t *stride, int64_t n_stride);
TP_API tp_tensor *tp_nn_functional_unfold(tp_tensor *input, const int64_t *kernel_size, int64_t n_kernel_size,
                                          const int64_t *dilation, int64_t n_dilation, const int64_t *padding,
                                          int64_t n_padding, const int64_t *stride, int64_t n_stride);
TP_API tp_tensor *tp_nonzero(tp_tensor *self);
TP_API tp_tensor *tp_nonzero_static(tp_tensor *self, int64_t size, int64_t fill_value);
TP_API tp_tensor *tp_norm(tp_tensor *self, const tp_scalar *p, const int64_t *dim, int64_t n_dim, bool keepdim,
                          int dtype);
TP_API tp_tensor *tp_norm_str(tp_tensor *self, const char *p, const int64_t *dim, int64_t n_dim, bool keepdim,
                              int dtype);
TP_API tp_tensor *tp_normal_fill(tp_tensor *self, double mean, double std, tp_generator *generator);
TP_API int tp_normal_fill_(tp_tensor *self, double mean, double std, tp_generator *generator);
TP_API tp_tensor *tp_normal_mean(tp_tensor *mean, double std, tp_generator *generator);
TP_API tp_tensor *tp_normal_size(double mean, double std, const int64_t *size, int64_t n_size, tp_generator *generator,
                                 int dtype);
TP_API tp_tensor *tp_normal_std(double mean, tp_tensor *std, tp_generator *generator);
TP_API tp_tensor *tp_normal_tensors(tp_tensor *mean, tp_tensor *std, tp_generator *generator);
TP_API tp_tensor *tp_normalize(tp_tensor *input, double p, int64_t dim, double eps);
TP_API tp_tensor *tp_ones(const int64_t *size, int64_t n_size, int dtype);
TP_API tp_tensor *tp_ones_like(tp_tensor *self, int dtype);
TP_API tp_tensor *tp_orgqr(tp_tensor *self, tp_tensor *input2);
TP_API tp_tensor *tp_ormqr(tp_tensor *self, tp_tensor *tau, tp_tensor *other, bool left, bool transpose);
TP_API tp_tensor *tp_outer(tp_tensor *self, tp_tensor *vec2);
TP_API tp_tensor *tp_pad(tp_tensor *input, const int64_t *pad, int64_t n_pad, const char *mode, const tp_scalar *value);
TP_API tp_tensor *tp_pairwise_distance(tp_tensor *x1, tp_tensor *x2, double p, double eps, bool keepdim);
TP_API tp_tensor *tp_pdist(tp_tensor *input, double p);
TP_API tp_tensor *tp_permute(tp_tensor *self, const int64_t *dims, int64_t n_dims);
TP_API tp_tensor *tp_permute_copy(tp_tensor *self, const int64_t *dims, int64_t n_dims);
TP_API tp_tensor *tp_pinverse(tp_tensor *self, double rcond);
TP_API tp_tensor *tp_pixel_shuffle(tp_tensor *input, int64_t upscale_factor);
TP_API tp_tensor *tp_pixel_unshuffle(tp_tensor *input, int64_t downscale_factor);
TP_API tp_tensor *tp_poisson_nll_loss(tp_tensor *input, tp_tensor *target, bool log_input, bool full, double eps,
                                      const char *reduction);
TP_API tp_tensor *tp_polar(tp_tensor *abs, tp_tensor *angle);
TP_API tp_tensor *tp_polygamma(int64_t n, tp_tensor *self);
TP_API tp_tensor *tp_polygamma_self(tp_tensor *self, int64_t n);
TP_API int tp_polygamma_self_(tp_tensor *self, int64_t n);
TP_API tp_tensor *tp_positive(tp_tensor *self);
TP_API tp_tensor *tp_pow(tp_tensor *self, tp_tensor *exponent);
TP_API tp_tensor *tp_pow_f(tp_tensor *self, double exponent);
TP_API tp_tensor *tp_pow_i(tp_tensor *self, int64_t exponent);
TP_API int tp_pow_(tp_tensor *self, tp_tensor *exponent);
TP_API int tp_pow_f_(tp_tensor *self, double exponent);
TP_API int tp_pow_i_(tp_tensor *self, int64_t exponent);
TP_API tp_tensor *tp_pow_scalar(const tp_scalar *self, tp_tensor *exponent);
TP_API tp_tensor *tp_prelu(tp_tensor *input, tp_tensor *weight);
TP_API tp_tensor *tp_prod(tp_tensor *self, int64_t dim, bool keepdim, int dtype);
TP_API tp_tensor *tp_put(tp_tensor *self, tp_tensor *index, tp_tensor *source, bool accumulate);
TP_API int tp_put_(tp_tensor *self, tp_tensor *index, tp_tensor *source, bool accumulate);
TP_API int tp_qr(tp_tensor *self, bool some, tp_tensor **out);
TP_API tp_tensor *tp_quantile(tp_tensor *self, tp_tensor *q, int64_t dim, bool keepdim, const char *interpolation);
TP_API tp_tensor *tp_quantile_number(tp_tensor *self, double q, int64_t dim, bool keepdim, const char *interpolation);
TP_API tp_tensor *tp_rad2deg(tp_tensor *self);
TP_API int tp_rad2deg_(tp_tensor *self);
TP_API tp_tensor *tp_rand(const int64_t *size, int64_t n_size, tp_generator *generator, int dtype);
TP_API tp_tensor *tp_rand_like(tp_tensor *self, tp_generator *generator, int dtype);
TP_API tp_tensor *tp_randint(int64_t high, const int64_t *size, int64_t n_size, tp_generator *generator, int dtype);
TP_API tp_tensor *tp_randint_low(int64_t low, int64_t high, const int64_t *size, int64_t n_size,
                                 tp_generator *generator, int dtype);
TP_API tp_tensor *tp_randint_like(tp_tensor *self, int64_t high, tp_generator *generator, int dtype);
TP_API tp_tensor *tp_randint_like_low(tp_tensor *self, int64_t low, int64_t high, tp_generator *generator, int dtype);
TP_API tp_tensor *tp_randn(const int64_t *size, int64_t n_size, tp_generator *generator, int dtype);
TP_API tp_tensor *tp_randn_like(tp_tensor *self, tp_generator *generator, int dtype);
TP_API tp_tensor *tp_random(tp_tensor *self, tp_generator *generator);
TP_API int tp_random_(tp_tensor *self, tp_generator *generator);
TP_API tp_tensor *tp_random_range(tp_tensor *self, int64_t low, int64_t high, tp_generator *generator);
TP_API int tp_random_range_(tp_tensor *self, int64_t low, int64_t high, tp_generator *generator);
TP_API tp_tensor *tp_random_to(tp_tensor *self, int64_t high, tp_generator *generator);
TP_API int tp_random_to_(tp_tensor *self, int64_t high, tp_generator *generator);
TP_API tp_tensor *tp_randperm(int64_t n, tp_generator *generator, int dtype);
TP_API tp_tensor *tp_ravel(tp_tensor *self);
TP_API tp_tensor *tp_real(tp_tensor *self);
TP_API tp_tensor *tp_reciprocal(tp_tensor *self);
TP_API int tp_reciprocal_(tp_tensor *self);
TP_API tp_tensor *tp_relu(tp_tensor *self);
TP_API int tp_relu_(tp_tensor *self);
TP_API tp_tensor *tp_relu6(tp_tensor *input);
TP_API tp_tensor *tp_remainder(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_remainder_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_remainder_i(tp_tensor *self, int64_t other);
TP_API int tp_remainder_(tp_tensor *self, tp_tensor *other);
TP_API int tp_remainder_f_(tp_tensor *self, double other);
TP_API int tp_remainder_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_renorm(tp_tensor *self, const tp_scalar *p, int64_t dim, const tp_scalar *maxnorm);
TP_API int tp_renorm_(tp_tensor *self, const tp_scalar *p, int64_t dim, const tp_scalar *maxnorm);
TP_API tp_tensor *tp_repeat(tp_tensor *self, const int64_t *repeats, int64_t n_repeats);
TP_API tp_tensor *tp_repeat_interleave(tp_tensor *self, int64_t repeats, int64_t dim, int64_t output_size);
TP_API tp_tensor *tp_repeat_interleave_counts(tp_tensor *repeats, int64_t output_size);
TP_API tp_tensor *tp_repeat_interleave_tensor(tp_tensor *self, tp_tensor *repeats, int64_t dim, int64_t output_size);
TP_API tp_tensor *tp_reshape(tp_tensor *self, const int64_t *size, int64_t n_size);
TP_API tp_tensor *tp_reshape_as(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_resolve_conj(tp_tensor *self);
TP_API tp_tensor *tp_resolve_neg(tp_tensor *self);
TP_API tp_tensor *tp_rms_norm(tp_tensor *input, const int64_t *normalized_shape, int64_t n_normalized_shape,
                              tp_tensor *weight, const double *eps);
TP_API tp_tensor *tp_roll(tp_tensor *self, const int64_t *shifts, int64_t n_shifts, const int64_t *dims,
                          int64_t n_dims);
TP_API tp_tensor *tp_rot90(tp_tensor *self, int64_t k, const int64_t *dims, int64_t n_dims);
TP_API tp_tensor *tp_round(tp_tensor *self, int64_t decimals);
TP_API int tp_round_(tp_tensor *self, int64_t decimals);
TP_API tp_tensor *tp_rsqrt(tp_tensor *self);
TP_API int tp_rsqrt_(tp_tensor *self);
TP_API tp_tensor *tp_rsub(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_rsub_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_rsub_i(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_scatter(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *src);
TP_API int tp_scatter_(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *src);
TP_API tp_tensor *tp_scatter_by(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *src, const char *reduce);
TP_API int tp_scatter_by_(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *src, const char *reduce);
TP_API tp_tensor *tp_scatter_value(tp_tensor *self, int64_t dim, tp_tensor *index, const tp_scalar *value);
TP_API int tp_scatter_value_(tp_tensor *self, int64_t dim, tp_tensor *index, const tp_scalar *value);
TP_API tp_tensor *tp_scatter_value_by(tp_tensor *self, int64_t dim, tp_tensor *index, const tp_scalar *value,
                                      const char *reduce);
TP_API int tp_scatter_value_by_(tp_tensor *self, int64_t dim, tp_tensor *index, const tp_scalar *value,
                                const char *reduce);
TP_API tp_tensor *tp_scatter_add(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *src);
TP_API int tp_scatter_add_(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *src);
TP_API tp_tensor *tp_scatter_reduce(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *src, const char *reduce,
                                    bool include_self);
TP_API int tp_scatter_reduce_(tp_tensor *self, int64_t dim, tp_tensor *index, tp_tensor *src, const char *reduce,
                              bool include_self);
TP_API tp_tensor *tp_searchsorted(tp_tensor *sorted_sequence, tp_tensor *self, bool out_int32, bool right,
                                  const char *side, tp_tensor *sorter);
TP_API tp_tensor *tp_select(tp_tensor *self, int64_t dim, int64_t index);
TP_API tp_tensor *tp_select_copy(tp_tensor *self, int64_t dim, int64_t index);
TP_API tp_tensor *tp_select_scatter(tp_tensor *self, tp_tensor *src, int64_t dim, int64_t index);
TP_API tp_tensor *tp_selu(tp_tensor *input);
TP_API tp_tensor *tp_sgn(tp_tensor *self);
TP_API int tp_sgn_(tp_tensor *self);
TP_API tp_tensor *tp_sigmoid(tp_tensor *self);
TP_API int tp_sigmoid_(tp_tensor *self);
TP_API tp_tensor *tp_signbit(tp_tensor *self);
TP_API tp_tensor *tp_silu(tp_tensor *self);
TP_API int tp_silu_(tp_tensor *self);
TP_API tp_tensor *tp_sin(tp_tensor *self);
TP_API int tp_sin_(tp_tensor *self);
TP_API tp_tensor *tp_sinc(tp_tensor *self);
TP_API int tp_sinc_(tp_tensor *self);
TP_API tp_tensor *tp_sinh(tp_tensor *self);
TP_API int tp_sinh_(tp_tensor *self);
TP_API tp_tensor *tp_slice(tp_tensor *self, int64_t dim, int64_t start, int64_t end, int64_t step);
TP_API tp_tensor *tp_slice_copy(tp_tensor *self, int64_t dim, int64_t start, int64_t end, int64_t step);
TP_API tp_tensor *tp_slice_scatter(tp_tensor *self, tp_tensor *src, int64_t dim, int64_t start, int64_t end,
                                   int64_t step);
TP_API int tp_slogdet(tp_tensor *self, tp_tensor **out);
TP_API tp_tensor *tp_smooth_l1_loss(tp_tensor *input, tp_tensor *target, const char *reduction, double beta);
TP_API tp_tensor *tp_soft_margin_loss(tp_tensor *input, tp_tensor *target, const char *reduction);
TP_API tp_tensor *tp_softmax(tp_tensor *self, int64_t dim, int dtype);
TP_API tp_tensor *tp_softplus(tp_tensor *self, double beta, double threshold);
TP_API tp_tensor *tp_softshrink(tp_tensor *input, double lambd);
TP_API tp_tensor *tp_softsign(tp_tensor *input);
TP_API int tp_sort(tp_tensor *self, int64_t dim, bool descending, bool stable, tp_tensor **out);
TP_API tp_tensor *tp_special_airy_ai(tp_tensor *self);
TP_API tp_tensor *tp_special_bessel_j0(tp_tensor *self);
TP_API tp_tensor *tp_special_bessel_j1(tp_tensor *self);
TP_API tp_tensor *tp_special_bessel_y0(tp_tensor *self);
TP_API tp_tensor *tp_special_bessel_y1(tp_tensor *self);
TP_API tp_tensor *tp_special_chebyshev_polynomial_t(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_chebyshev_polynomial_u(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_chebyshev_polynomial_v(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_chebyshev_polynomial_w(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_entr(tp_tensor *self);
TP_API tp_tensor *tp_special_erfcx(tp_tensor *self);
TP_API tp_tensor *tp_special_hermite_polynomial_h(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_hermite_polynomial_he(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_i0e(tp_tensor *self);
TP_API tp_tensor *tp_special_i1(tp_tensor *self);
TP_API tp_tensor *tp_special_i1e(tp_tensor *self);
TP_API tp_tensor *tp_special_laguerre_polynomial_l(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_legendre_polynomial_p(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_log_ndtr(tp_tensor *self);
TP_API tp_tensor *tp_special_modified_bessel_i0(tp_tensor *self);
TP_API tp_tensor *tp_special_modified_bessel_i1(tp_tensor *self);
TP_API tp_tensor *tp_special_modified_bessel_k0(tp_tensor *self);
TP_API tp_tensor *tp_special_modified_bessel_k1(tp_tensor *self);
TP_API tp_tensor *tp_special_ndtr(tp_tensor *self);
TP_API tp_tensor *tp_special_ndtri(tp_tensor *self);
TP_API tp_tensor *tp_special_scaled_modified_bessel_k0(tp_tensor *self);
TP_API tp_tensor *tp_special_scaled_modified_bessel_k1(tp_tensor *self);
TP_API tp_tensor *tp_special_shifted_chebyshev_polynomial_t(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_shifted_chebyshev_polynomial_u(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_shifted_chebyshev_polynomial_v(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_shifted_chebyshev_polynomial_w(tp_tensor *x, tp_tensor *n);
TP_API tp_tensor *tp_special_spherical_bessel_j0(tp_tensor *self);
TP_API tp_tensor *tp_special_xlog1py(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_special_zeta(tp_tensor *self, tp_tensor *other);
TP_API int tp_split(tp_tensor *self, int64_t split_size, int64_t dim, tp_tensor ***out, int64_t *n_out);
TP_API int tp_split_sizes(tp_tensor *self, const int64_t *split_size, int64_t n_split_size, int64_t dim,
                          tp_tensor ***out, int64_t *n_out);
TP_API int tp_split_copy(tp_tensor *self, int64_t split_size, int64_t dim, tp_tensor ***out, int64_t *n_out);
TP_API int tp_split_with_sizes(tp_tensor *self, const int64_t *split_sizes, int64_t n_split_sizes, int64_t dim,
                               tp_tensor ***out, int64_t *n_out);
TP_API int tp_split_with_sizes_copy(tp_tensor *self, const int64_t *split_sizes, int64_t n_split_sizes, int64_t dim,
                                    tp_tensor ***out, int64_t *n_out);
TP_API tp_tensor *tp_sqrt(tp_tensor *self);
TP_API int tp_sqrt_(tp_tensor *self);
TP_API tp_tensor *tp_square(tp_tensor *self);
TP_API int tp_square_(tp_tensor *self);
TP_API tp_tensor *tp_squeeze(tp_tensor *self);
TP_API tp_tensor *tp_squeeze_dim(tp_tensor *self, const int64_t *dim, int64_t n_dim);
TP_API tp_tensor *tp_squeeze_copy(tp_tensor *self);
TP_API tp_tensor *tp_squeeze_copy_dim(tp_tensor *self, const int64_t *dim, int64_t n_dim);
TP_API tp_tensor *tp_stack(tp_tensor *const *tensors, int64_t n_tensors, int64_t dim);
TP_API tp_tensor *tp_std(tp_tensor *self, const int64_t *dim, int64_t n_dim, double correction, bool keepdim);
TP_API tp_tensor *tp_std_flag(tp_tensor *self, bool unbiased);
TP_API tp_tensor *tp_std_unbiased(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool unbiased, bool keepdim);
TP_API int tp_std_mean(tp_tensor *self, const int64_t *dim, int64_t n_dim, double correction, bool keepdim,
                       tp_tensor **out);
TP_API int tp_std_mean_flag(tp_tensor *self, bool unbiased, tp_tensor **out);
TP_API int tp_std_mean_unbiased(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool unbiased, bool keepdim,
                                tp_tensor **out);
TP_API tp_tensor *tp_stft(tp_tensor *self, int64_t n_fft, int64_t hop_length, int64_t win_length, tp_tensor *window,
                          bool center, const char *pad_mode, bool normalized, int onesided, int return_complex);
TP_API tp_tensor *tp_sub(tp_tensor *self, tp_tensor *other, const tp_scalar *alpha);
TP_API tp_tensor *tp_sub_f(tp_tensor *self, double other, const tp_scalar *alpha);
TP_API tp_tensor *tp_sub_i(tp_tensor *self, int64_t other, const tp_scalar *alpha);
TP_API int tp_sub_(tp_tensor *self, tp_tensor *other, const tp_scalar *alpha);
TP_API int tp_sub_f_(tp_tensor *self, double other, const tp_scalar *alpha);
TP_API int tp_sub_i_(tp_tensor *self, int64_t other, const tp_scalar *alpha);
TP_API tp_tensor *tp_sum(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool keepdim, int dtype);
TP_API int tp_svd(tp_tensor *self, bool some, bool compute_uv, tp_tensor **out);
TP_API tp_tensor *tp_t(tp_tensor *self);
TP_API tp_tensor *tp_t_copy(tp_tensor *self);
TP_API tp_tensor *tp_take(tp_tensor *self, tp_tensor *index);
TP_API tp_tensor *tp_take_along_dim(tp_tensor *self, tp_tensor *indices, int64_t dim);
TP_API tp_tensor *tp_tan(tp_tensor *self);
TP_API int tp_tan_(tp_tensor *self);
TP_API tp_tensor *tp_tanh(tp_tensor *self);
TP_API int tp_tanh_(tp_tensor *self);
TP_API tp_tensor *tp_tanhshrink(tp_tensor *input);
TP_API int tp_tensor_split(tp_tensor *self, int64_t sections, int64_t dim, tp_tensor ***out, int64_t *n_out);
TP_API int tp_tensor_split_indices(tp_tensor *self, const int64_t *indices, int64_t n_indices, int64_t dim,
                                   tp_tensor ***out, int64_t *n_out);
TP_API int tp_tensor_split_tensor(tp_tensor *self, tp_tensor *tensor_indices_or_sections, int64_t dim, tp_tensor ***out,
                                  int64_t *n_out);
TP_API tp_tensor *tp_tensordot(tp_tensor *self, tp_tensor *other, int64_t dims);
TP_API tp_tensor *tp_tensordot_dims(tp_tensor *self, tp_tensor *other, const int64_t *dims_self, int64_t n_dims_self,
                                    const int64_t *dims_other, int64_t n_dims_other);
TP_API tp_tensor *tp_threshold(tp_tensor *input, double threshold, double value);
TP_API tp_tensor *tp_tile(tp_tensor *self, const int64_t *dims, int64_t n_dims);
TP_API int tp_topk(tp_tensor *self, int64_t k, int64_t dim, bool largest, bool sorted, tp_tensor **out);
TP_API tp_tensor *tp_trace(tp_tensor *self);
TP_API tp_tensor *tp_transpose(tp_tensor *self, int64_t dim0, int64_t dim1);
TP_API tp_tensor *tp_transpose_copy(tp_tensor *self, int64_t dim0, int64_t dim1);
TP_API tp_tensor *tp_trapezoid(tp_tensor *y, tp_tensor *x, const tp_scalar *dx, int64_t dim);
TP_API int tp_triangular_solve(tp_tensor *self, tp_tensor *A, bool upper, bool transpose, bool unitriangular,
                               tp_tensor **out);
TP_API tp_tensor *tp_tril(tp_tensor *self, int64_t diagonal);
TP_API int tp_tril_(tp_tensor *self, int64_t diagonal);
TP_API tp_tensor *tp_tril_indices(int64_t row, int64_t col, int64_t offset, int dtype);
TP_API tp_tensor *tp_triplet_margin_loss(tp_tensor *anchor, tp_tensor *positive, tp_tensor *negative, double margin,
                                         double p, double eps, bool swap, const char *reduction);
TP_API tp_tensor *tp_triu(tp_tensor *self, int64_t diagonal);
TP_API int tp_triu_(tp_tensor *self, int64_t diagonal);
TP_API tp_tensor *tp_triu_indices(int64_t row, int64_t col, int64_t offset, int dtype);
TP_API tp_tensor *tp_trunc(tp_tensor *self);
TP_API int tp_trunc_(tp_tensor *self);
TP_API int tp_unbind(tp_tensor *self, int64_t dim, tp_tensor ***out, int64_t *n_out);
TP_API int tp_unbind_copy(tp_tensor *self, int64_t dim, tp_tensor ***out, int64_t *n_out);
TP_API tp_tensor *tp_unflatten(tp_tensor *self, int64_t dim, const int64_t *sizes, int64_t n_sizes);
TP_API tp_tensor *tp_unfold(tp_tensor *self, int64_t dimension, int64_t size, int64_t step);
TP_API tp_tensor *tp_unfold_copy(tp_tensor *self, int64_t dimension, int64_t size, int64_t step);
TP_API tp_tensor *tp_uniform(tp_tensor *self, double low, double high, tp_generator *generator);
TP_API int tp_uniform_(tp_tensor *self, double low, double high, tp_generator *generator);
TP_API int tp_unique_rows(tp_tensor *self, bool consecutive, tp_tensor **out);
TP_API int tp_unravel_index(tp_tensor *indices, const int64_t *shape, int64_t n_shape, tp_tensor ***out,
                            int64_t *n_out);
TP_API tp_tensor *tp_unsqueeze(tp_tensor *self, int64_t dim);
TP_API tp_tensor *tp_unsqueeze_copy(tp_tensor *self, int64_t dim);
TP_API tp_tensor *tp_var(tp_tensor *self, const int64_t *dim, int64_t n_dim, double correction, bool keepdim);
TP_API tp_tensor *tp_var_flag(tp_tensor *self, bool unbiased);
TP_API tp_tensor *tp_var_unbiased(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool unbiased, bool keepdim);
TP_API int tp_var_mean(tp_tensor *self, const int64_t *dim, int64_t n_dim, double correction, bool keepdim,
                       tp_tensor **out);
TP_API int tp_var_mean_flag(tp_tensor *self, bool unbiased, tp_tensor **out);
TP_API int tp_var_mean_unbiased(tp_tensor *self, const int64_t *dim, int64_t n_dim, bool unbiased, bool keepdim,
                                tp_tensor **out);
TP_API tp_tensor *tp_vdot(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_view(tp_tensor *self, const int64_t *size, int64_t n_size);
TP_API tp_tensor *tp_view_dtype(tp_tensor *self, int dtype);
TP_API tp_tensor *tp_view_as(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_view_as_complex(tp_tensor *self);
TP_API tp_tensor *tp_view_as_complex_copy(tp_tensor *self);
TP_API tp_tensor *tp_view_as_real(tp_tensor *self);
TP_API tp_tensor *tp_view_as_real_copy(tp_tensor *self);
TP_API tp_tensor *tp_view_copy(tp_tensor *self, const int64_t *size, int64_t n_size);
TP_API tp_tensor *tp_view_copy_dtype(tp_tensor *self, int dtype);
TP_API int tp_vsplit(tp_tensor *self, int64_t sections, tp_tensor ***out, int64_t *n_out);
TP_API int tp_vsplit_indices(tp_tensor *self, const int64_t *indices, int64_t n_indices, tp_tensor ***out,
                             int64_t *n_out);
TP_API tp_tensor *tp_vstack(tp_tensor *const *tensors, int64_t n_tensors);
TP_API tp_tensor *tp_where(tp_tensor *condition, tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_where_self(tp_tensor *self, tp_tensor *condition, tp_tensor *other);
TP_API tp_tensor *tp_xlogy(tp_tensor *self, tp_tensor *other);
TP_API tp_tensor *tp_xlogy_f(tp_tensor *self, double other);
TP_API tp_tensor *tp_xlogy_i(tp_tensor *self, int64_t other);
TP_API int tp_xlogy_(tp_tensor *self, tp_tensor *other);
TP_API int tp_xlogy_f_(tp_tensor *self, double other);
TP_API int tp_xlogy_i_(tp_tensor *self, int64_t other);
TP_API tp_tensor *tp_zero(tp_tensor *self);
TP_API int tp_zero_(tp_tensor *self);
TP_API tp_tensor *tp_zeros(const int64_t *size, int64_t n_size, int dtype);
TP_API tp_tensor *tp_zeros_like(tp_tensor *self, int dtype);
TP_END_DECLS
#endif
