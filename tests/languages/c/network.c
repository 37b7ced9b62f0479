/* Per-sample gradients, a Jacobian and a Hessian-vector product of a small network, through the C ABI of libtp. */
#include <math.h>
#include <stdio.h>
#include <tp/tp.h>

/* Results, row by row; written by reference.py. */
static const double grad_w1[60] = {
    -4.652265312778513e-02, -1.860906125111405e-01, 6.978397969167770e-02, -3.351064423391725e-02,
    -1.340425769356690e-01, 5.026596635087588e-02, 1.263589893865502e-01, 5.054359575462007e-01,
    -1.895384840798253e-01, 1.157118894902956e-01, 4.628475579611826e-01, -1.735678342354435e-01,
    -3.109509621522984e-01, 8.292025657394624e-01, 2.073006414348656e-01, -6.974451526111214e-02,
    1.859853740296324e-01, 4.649634350740810e-02, 6.241954564321695e-02, -1.664521217152452e-01,
    -4.161303042881130e-02, -9.343962210192364e-03, 2.491723256051297e-02, 6.229308140128243e-03,
    8.321349457425940e-03, -1.456236155049540e-02, -2.080337364356485e-03, -2.584006472898727e-01,
    4.522011327572771e-01, 6.460016182246817e-02, 4.194466952087438e-02, -7.340317166153015e-02,
    -1.048616738021859e-02, 8.778086226467965e-02, -1.536165089631894e-01, -2.194521556616991e-02,
    -5.293770024543037e-01, 6.352524029451645e-01, 0.000000000000000e+00, -1.170829693297705e-01,
    1.404995631957247e-01, 0.000000000000000e+00, 8.343918637452818e-02, -1.001270236494338e-01,
    0.000000000000000e+00, -5.604594260436146e-03, 6.725513112523375e-03, 0.000000000000000e+00,
    -4.680852217012908e-01, 3.900710180844090e-01, -7.801420361688180e-02, 4.651609645071703e-02,
    -3.876341370893086e-02, 7.752682741786172e-03, 4.086433099479349e-02, -3.405360916232791e-02,
    6.810721832465581e-03, -7.032590289862962e-02, 5.860491908219135e-02, -1.172098381643827e-02
};
static const double grad_w2[40] = {
    -5.177787289730928e-01, -7.040935703730897e-01, 4.872198595940190e-01, 8.753755307664531e-02,
    -4.959980971709931e-01, -6.744755077675880e-01, 4.667247025420198e-01, 8.385524033235668e-02,
    -1.237789458720195e+00, -1.396081560803186e+00, 1.827076180341982e+00, 1.793795008363079e+00,
    -3.386984592950598e-01, -3.820121995409322e-01, 4.999459988424571e-01, 4.908392144912289e-01,
    -5.978018762258378e-01, -7.125609818068049e-01, 8.888210323988009e-01, 8.644476590218935e-01,
    -1.082831195425622e+00, -1.290700632481837e+00, 1.609970090940694e+00, 1.565821268262356e+00,
    -1.326590383493116e+00, -1.654879242969401e+00, 1.984656830413449e+00, 1.914007389023044e+00,
    -4.548702481071772e-01, -5.674361439699186e-01, 6.805125049080037e-01, 6.562877484694206e-01,
    -6.856204377907695e-01, -8.880226038131317e-01, 1.031179513120389e+00, 9.869265540439180e-01,
    1.756133059291854e-01, 2.274561500791463e-01, -2.641240449147493e-01, -2.527891896330000e-01
};
static const double jacobian_of_y[6] = {
    5.951874168355872e-01, 1.262203398417136e-03, -2.043185810196277e-01, 7.897733135255915e-01,
    -7.370848065558429e-01, 3.803307439882025e-03
};
static const double hessian_product[12] = {
    4.705622593577169e-01, 4.729192461693211e-01, -3.109610565149222e-01, 1.848251716332927e-01,
    -6.120153036396271e-01, 1.498910259183725e-02, -5.134865981783336e-01, 3.751641175970502e-01,
    2.032613792861967e-01, 4.266881139335933e-01, 1.861349686380251e+00, -7.129307581651316e-01
};
/* end of the numbers */

enum { W1, B1, W2, B2, X, TARGET, ARGS };

/* A value of C for an argument of an operator. */
static const tp_scalar one = {TP_SCALAR_INT, 0, {1}};

/* Value k is ((a k + b) mod 17 - 8) / 8. */
static tp_tensor *input(int a, int b, int ndim, int64_t rows, int64_t columns)
{
    int64_t shape[2], k, n;
    double values[64];
    shape[0] = rows;
    shape[1] = columns;
    n = ndim == 2 ? rows * columns : rows;
    for (k = 0; k < n; k++) values[k] = (double)((a * k + b) % 17 - 8) / 8;
    return tp_from_data(values, TP_FLOAT64, ndim, shape);
}

/* y = W2 tanh(W1 x + b1) + b2. Calls are checked once, at the end: NULL in, NULL out. */
static tp_tensor *network(tp_tensor *const *args)
{
    tp_tensor *z = tp_linear(args[X], args[W1], args[B1]);
    tp_tensor *h = tp_tanh(z);
    tp_tensor *y = tp_linear(h, args[W2], args[B2]);
    tp_release(z), tp_release(h);
    return y;
}

static int network_call(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    (void)payload, (void)n_args, (void)n_results;
    results[0] = network(args);
    return results[0] ? TP_OK : tp_error_code();
}

/* Half the squared distance of y from the target. */
static int loss_call(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    tp_tensor *y = network(args);
    tp_tensor *error = tp_sub(y, args[TARGET], &one);
    tp_tensor *square = tp_square(error);
    tp_tensor *sum = tp_sum(square, NULL, -1, false, TP_DTYPE_NONE);
    (void)payload, (void)n_args, (void)n_results;
    results[0] = tp_mul_f(sum, 0.5);
    tp_release(y), tp_release(error), tp_release(square), tp_release(sum);
    return results[0] ? TP_OK : tp_error_code();
}

static const tp_function network_function = {sizeof network_function, network_call, NULL, NULL};
static const tp_function loss_function = {sizeof loss_function, loss_call, NULL, NULL};

/* Gradients of the loss by W1 and W2, or by W1 alone. */
static int grad_call(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    static const int64_t by[2] = {W1, W2};
    (void)payload;
    return tp_grad(&loss_function, args, n_args, by, n_results, NULL, results);
}

static const tp_function grad_function = {sizeof grad_function, grad_call, NULL, NULL};

static int differs(const char *what, tp_tensor *t, const double *expected, int64_t n)
{
    tp_tensor *plain = tp_contiguous(t);
    const double *values = (const double *)tp_data(plain);
    int64_t k, bad = 0;
    if (!values || tp_numel(plain) != n || tp_tensor_dtype(plain) != TP_FLOAT64) {
        printf("%s: %s\n", what, values ? "another shape or dtype" : tp_error_message());
        tp_release(plain);
        return 1;
    }
    for (k = 0; k < n; k++)
        if (!(fabs(values[k] - expected[k]) <= 1e-12 * (1 + fabs(expected[k])))) bad++;
    printf("%s: %d values, %d wrong\n", what, (int)n, (int)bad);
    tp_release(plain);
    return bad != 0;
}

#define DIFFERS(what, t, expected) differs(what, t, expected, (int64_t)(sizeof(expected) / sizeof *(expected)))

int main(void)
{
    static const int mapped[ARGS] = {TP_DIM_NONE, TP_DIM_NONE, TP_DIM_NONE, TP_DIM_NONE, 0, 0};
    static const int64_t by_x[1] = {X};
    tp_vmap_options options = {sizeof options, mapped, NULL, TP_RANDOM_ERROR, 0, 0};
    tp_tensor *args[ARGS], *sample[ARGS], *tangents[ARGS] = {NULL}, *grads[2] = {NULL}, *jacobian = NULL;
    tp_tensor *gradient = NULL, *product = NULL;
    int bad = 0, k;
    if (tp_abi_version() != TP_ABI_VERSION) return printf("another ABI than the header's\n"), 1;

    args[W1] = input(5, 3, 2, 4, 3), args[B1] = input(3, 11, 1, 4, 0);
    args[W2] = input(7, 1, 2, 2, 4), args[B2] = input(9, 4, 1, 2, 0);
    args[X] = input(11, 6, 2, 5, 3), args[TARGET] = input(13, 2, 2, 5, 2);

    /* Of every sample at once: vmap over grad. */
    if (tp_vmap(&grad_function, args, ARGS, &options, grads, 2) != TP_OK) printf("vmap: %s\n", tp_error_message());
    bad += DIFFERS("per-sample gradients by W1", grads[0], grad_w1);
    bad += DIFFERS("per-sample gradients by W2", grads[1], grad_w2);

    /* Of the first sample's y by x. */
    for (k = 0; k < ARGS; k++) sample[k] = args[k];
    sample[X] = tp_select(args[X], 0, 0);
    if (tp_jacrev(&network_function, sample, ARGS, by_x, 1, NULL, 1, &jacobian) != TP_OK)
        printf("jacrev: %s\n", tp_error_message());
    bad += DIFFERS("Jacobian by x", jacobian, jacobian_of_y);

    /* Of the summed loss by W1: forward mode over reverse mode. */
    tangents[W1] = input(4, 9, 2, 4, 3);
    if (tp_jvp(&grad_function, args, tangents, ARGS, &gradient, &product, 1) != TP_OK)
        printf("jvp: %s\n", tp_error_message());
    bad += DIFFERS("Hessian-vector product by W1", product, hessian_product);

    for (k = 0; k < ARGS; k++) tp_release(args[k]);
    tp_release(sample[X]), tp_release(tangents[W1]), tp_release(grads[0]), tp_release(grads[1]);
    tp_release(jacobian), tp_release(gradient), tp_release(product);
    if (tp_live_tensors()) bad++, printf("%d tensors left\n", (int)tp_live_tensors());
    return bad != 0;
}
