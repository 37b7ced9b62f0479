// Per-sample gradients, a Jacobian and a Hessian-vector product of a small network, with tp/tp.hpp.
#include <cmath>
#include <cstdio>
#include <tp/tp.hpp>

using tp::Tensor;

namespace {

// Results, row by row; written by reference.py.
const double grad_w1[60] = {
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
const double grad_w2[40] = {
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
const double jacobian_of_y[6] = {
    5.951874168355872e-01, 1.262203398417136e-03, -2.043185810196277e-01, 7.897733135255915e-01,
    -7.370848065558429e-01, 3.803307439882025e-03
};
const double hessian_product[12] = {
    4.705622593577169e-01, 4.729192461693211e-01, -3.109610565149222e-01, 1.848251716332927e-01,
    -6.120153036396271e-01, 1.498910259183725e-02, -5.134865981783336e-01, 3.751641175970502e-01,
    2.032613792861967e-01, 4.266881139335933e-01, 1.861349686380251e+00, -7.129307581651316e-01
};
// end of the numbers

// Value k is ((a k + b) mod 17 - 8) / 8.
Tensor input(std::int64_t a, std::int64_t b, const std::vector<std::int64_t> &shape)
{
    std::int64_t n = 1;
    for (std::int64_t size : shape) n *= size;
    Tensor k = tp::arange(n, TP_FLOAT64);
    return tp::reshape((tp::remainder(a * k + b, 17) - 8) / 8, shape);
}

template <std::size_t N> bool differs(const char *what, const Tensor &t, const double (&expected)[N])
{
    std::vector<double> values = t.values<double>();
    int bad = values.size() == N ? 0 : 1;
    for (std::size_t k = 0; k < N && !bad; k++)
        if (!(std::abs(values[k] - expected[k]) <= 1e-12 * (1 + std::abs(expected[k])))) bad = 1;
    std::printf("%s: %zu values, %s\n", what, N, bad ? "WRONG" : "right");
    return bad != 0;
}

int run()
{
    Tensor w1 = input(5, 3, {4, 3}), b1 = input(3, 11, {4}), w2 = input(7, 1, {2, 4}), b2 = input(9, 4, {2});
    Tensor x = input(11, 6, {5, 3}), target = input(13, 2, {5, 2}), v = input(4, 9, {4, 3});

    auto network = [&](const Tensor &w1, const Tensor &w2, const Tensor &x) {
        return tp::linear(tp::tanh(tp::linear(x, w1, b1)), w2, b2);
    };
    auto loss = [&](const Tensor &w1, const Tensor &w2, const Tensor &x, const Tensor &target) {
        return 0.5 * tp::sum(tp::square(network(w1, w2, x) - target));
    };

    auto of_sample = tp::grad<0, 1>(loss);
    auto [by_w1, by_w2] = tp::vmap(of_sample, {{tp::not_mapped, tp::not_mapped, 0, 0}})(w1, w2, x, target);
    Tensor jacobian = tp::jacrev([&](const Tensor &x) { return network(w1, w2, x); })(x[0]);
    Tensor product = tp::hvp([&](const Tensor &w1) { return loss(w1, w2, x, target); }, w1, v);

    int bad = differs("per-sample gradients by W1", by_w1, grad_w1);
    bad += differs("per-sample gradients by W2", by_w2, grad_w2);
    bad += differs("Jacobian by x", jacobian, jacobian_of_y);
    bad += differs("Hessian-vector product by W1", product, hessian_product);
    bad += differs("the same from the Jacobian by forward mode",
                   tp::jacfwd([&](const Tensor &x) { return network(w1, w2, x); })(x[0]), jacobian_of_y);
    Tensor hessian = tp::hessian([&](const Tensor &w1) { return loss(w1, w2, x, target); })(w1);
    bad += differs("the same from the Hessian", tp::tensordot(hessian, v), hessian_product);

    // What a function throws comes out as it went in, through two levels.
    struct Own {
        int number;
    };
    auto thrower = [](const Tensor &t) -> Tensor { return t.ndim() == 0 ? throw Own{42} : t; };
    try {
        tp::vmap(tp::grad(thrower))(b1);
        bad++;
    } catch (const Own &own) {
        bad += own.number != 42;
    }
    try {
        tp::vmap([&](const Tensor &row) { return tp::matmul(w1, row); })(w1);
        tp::matmul(w1, w1);
        bad++;
    } catch (const tp::Error &e) {
        std::printf("as it should be: %s\n", e.what());
    }
    bad += tp_level_depth() != 0;
    return bad;
}

} // namespace

int main()
{
    int bad = tp_abi_version() != TP_ABI_VERSION;
    try {
        bad += run();
    } catch (const std::exception &e) {
        std::printf("%s\n", e.what());
        return 1;
    }
    if (tp_live_tensors()) bad++, std::printf("%d tensors left\n", static_cast<int>(tp_live_tensors()));
    return bad != 0;
}
