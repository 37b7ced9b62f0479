// Every part of the wrapper once: values in and out, lists and absent arguments, several results, transforms, failures.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <tp/tp.hpp>

using tp::Tensor;

namespace {

int failures = 0;

#define EXPECT(condition)                                                    \
    do {                                                                     \
        if (!(condition)) {                                                  \
            std::printf("line %d: %s does not hold\n", __LINE__, #condition); \
            failures++;                                                      \
        }                                                                    \
    } while (0)

template <class F> int code_of(F &&f)
{
    try {
        f();
    } catch (const tp::Error &e) {
        EXPECT(std::string(e.what()).find('\n') == std::string::npos && *e.what());
        return e.code();
    }
    return TP_OK;
}

bool near(const Tensor &t, const std::vector<double> &expected)
{
    std::vector<double> values = t.values<double>();
    if (values.size() != expected.size()) return false;
    for (std::size_t k = 0; k < values.size(); k++)
        if (!(std::abs(values[k] - expected[k]) <= 1e-12 * (1 + std::abs(expected[k])))) return false;
    return true;
}

void tensors()
{
    Tensor a = Tensor::from({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {2, 3});
    EXPECT(a.ndim() == 2 && a.dtype() == TP_FLOAT64 && a.numel() == 6 && a.size(-1) == 3 && a.is_contiguous());
    EXPECT((a.shape() == std::vector<std::int64_t>{2, 3}));
    EXPECT(code_of([&] { (void)a.size(2); }) == TP_ERR_INDEX);
    EXPECT(code_of([] { Tensor::from({1.0, 2.0}, {3}); }) == TP_ERR_VALUE);
    EXPECT(code_of([&] { (void)a.data<float>(); }) == TP_ERR_TYPE);
    EXPECT(code_of([&] { (void)a.item(); }) != TP_OK);
    EXPECT(near(a[1], {4, 5, 6}) && a[1][2].item() == 6 && a[0][1].item<int>() == 2);
    EXPECT(near(tp::t(a), {1, 4, 2, 5, 3, 6})); // not contiguous in memory
    EXPECT((tp::t(a).values<float>() == std::vector<float>{1, 4, 2, 5, 3, 6}));

    Tensor b = a, c = std::move(b); // copies share, moves leave nothing
    EXPECT(!b && c && c.handle() == a.handle());
    c += 1;
    c -= Tensor::from({1.0, 1.0, 1.0});
    c *= 2.0;
    c /= 2;
    EXPECT(near(a, {1, 2, 3, 4, 5, 6}));
    EXPECT(near(2 - a[0] / 2 + 1 * a[0], {2.5, 3, 3.5}) && near(6 / a[0], {6, 3, 2}) && near(-a[0], {-1, -2, -3}));
    EXPECT((a * 2).dtype() == TP_FLOAT64 && (Tensor::from({1, 2}) * 2).dtype() == TP_INT32);
    EXPECT((Tensor::from({1, 2}) * 0.5).dtype() == TP_FLOAT32); // a number promotes by its kind alone
    EXPECT(tp::sum(Tensor::from({true, false, true})).item<int>() == 2);
    Tensor z = Tensor::from({std::complex<double>(3, 4)});
    EXPECT(tp::abs(z).item() == 5 && z[0].complex_item() == std::complex<double>(3, 4));
    EXPECT(code_of([&] { (void)z.item(); }) == TP_ERR_TYPE);

    auto memory = std::make_shared<std::vector<double>>(4, 7.0);
    Tensor view = Tensor::borrow(memory->data(), {2, 2}, memory);
    (*memory)[3] = 8;
    EXPECT(memory.use_count() == 2 && view[1][1].item() == 8);
    view = Tensor();
    EXPECT(memory.use_count() == 1);
    const float fixed[2] = {1, 2};
    Tensor readonly = Tensor::borrow(fixed, {2});
    EXPECT(near(readonly, {1, 2}) && code_of([&] { readonly += 1; }) != TP_OK);
    EXPECT(Tensor::from(std::vector<double>(), {0}).values<double>().empty());
}

void operators()
{
    Tensor a = Tensor::from({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {2, 3});
    EXPECT(tp::sum(a).item() == 21 && near(tp::sum(a, 0), {5, 7, 9}) && tp::sum(a, {0, 1}, true).ndim() == 2);
    EXPECT(tp::sum(a, {}, false, TP_FLOAT32).dtype() == TP_FLOAT32);
    EXPECT(near(tp::reshape(a, {3, -1}), {1, 2, 3, 4, 5, 6}) && tp::zeros({2, 3}).dtype() == TP_FLOAT32);
    EXPECT(tp::ones(3, TP_INT64).dtype() == TP_INT64 && near(tp::full({2}, 1.5), {1.5, 1.5}));
    EXPECT(near(tp::stack({a[0], a[1]}, 1), {1, 4, 2, 5, 3, 6}));
    std::vector<Tensor> parts = tp::split(a, 1, 1);
    EXPECT(parts.size() == 3 && near(parts[2], {3, 6}) && near(tp::cat(parts, 1), a.values<double>()));
    auto [q, r] = tp::linalg::qr(tp::t(a));
    EXPECT(near(tp::matmul(q, r), {1, 4, 2, 5, 3, 6}));
    auto [values, indices] = tp::max_dim(a, 1);
    EXPECT(near(values, {3, 6}) && indices.dtype() == TP_INT64);
    EXPECT(near(tp::nan_to_num(Tensor::from({std::nan(""), 1.0}), 7.0), {7, 1}));
    EXPECT(near(tp::clamp(a[1], 4.5, {}), {4.5, 5, 6}) && near(tp::clamp(a[1], {}, 4.5), {4, 4.5, 4.5}));
    EXPECT(near(tp::fft::irfft(tp::fft::rfft(a[0]), 3), {1, 2, 3}));
    EXPECT(std::abs(tp::special::bessel_j0(Tensor::from({2.404825557695773})).item()) < 1e-14);
    EXPECT(near(tp::linear(a, tp::ones({1, 3}, TP_FLOAT64)), {6, 15})); // without a bias

    tp::Generator one(5), two(5);
    Tensor first = tp::randn({4}, one), second = tp::randn({4}, two);
    EXPECT(near(first, second.values<double>()) && tp::randn(2).numel() == 2);
    tp::Generator copy = one;
    EXPECT(copy.handle() == one.handle());

    EXPECT(code_of([&] { tp::matmul(a, a); }) != TP_OK);
    EXPECT(code_of([&] { tp::add(a, Tensor()); }) == TP_ERR_VALUE); // an empty tensor is an absent argument
    EXPECT(code_of([&] { tp::linalg::cholesky(-tp::eye(2)); }) == TP_ERR_LINALG);
    EXPECT(code_of([&] { tp::select(a, 0, 5); }) == TP_ERR_INDEX);
}

void autograd()
{
    Tensor x = Tensor::from({1.0, 2.0});
    x.requires_grad_();
    EXPECT(x.requires_grad() && !x.grad());
    Tensor y = tp::sum(x * x);
    tp_tensor *out[1] = {y.handle()};
    tp::check(tp_backward(out, nullptr, 1, nullptr, 0, false, false));
    EXPECT(near(x.grad(), {2, 4}) && !x.detach().requires_grad());
    {
        tp::NoGrad guard;
        EXPECT(!(x * x).requires_grad());
    }
    EXPECT((x * x).requires_grad());
}

void transforms()
{
    Tensor x = Tensor::from({1.0, 2.0, 3.0}), m = Tensor::from({1.0, 0.0, 0.0, 0.0, 2.0, 0.0}, {2, 3});
    auto f = [](const Tensor &a, const Tensor &b) { return std::tuple(a * b, std::pair(tp::sum(a), tp::sum(b))); };
    auto [product, sums] = tp::vmap(f, {{tp::not_mapped, 0}, {1, 0, 0}})(x, m);
    EXPECT((product.shape() == std::vector<std::int64_t>{3, 2}) && near(sums.first, {6, 6}) && near(sums.second, {1, 2}));
    EXPECT(code_of([&] { tp::vmap(f, {{0}})(x, m); }) == TP_ERR_VALUE);
    EXPECT(code_of([&] { tp::vmap(f)(x, m); }) == TP_ERR_VALUE);
    EXPECT(near(tp::vmap([](const Tensor &a) { return a * 2; }, {{}, {}, TP_RANDOM_ERROR, 0, 2})(x), {2, 4, 6}));
    EXPECT(code_of([&] { tp::vmap([](const Tensor &) { return tp::randn(1); })(x); }) != TP_OK);
    tp::VmapOptions random;
    random.randomness = TP_RANDOM_SAME;
    std::vector<double> drawn = tp::vmap([](const Tensor &) { return tp::randn(1); }, random)(x).values<double>();
    EXPECT(drawn.size() == 3 && drawn[0] == drawn[2]);

    auto cube = [](const Tensor &a) { return tp::sum(a * a * a); };
    EXPECT(near(tp::grad(cube)(x), {3, 12, 27}));
    EXPECT(near(tp::grad([&](const Tensor &a) { return tp::sum(tp::grad(cube)(a)); })(x), {6, 12, 18}));
    EXPECT(near(tp::vmap(tp::grad(tp::grad(tp::grad(cube))))(x), {6, 6, 6})); // three levels below the map
    auto [value, gradient] = tp::value_and_grad(cube)(x);
    EXPECT(value.item() == 36 && near(gradient, {3, 12, 27}));
    EXPECT(near(tp::hessian(cube)(x), {6, 0, 0, 0, 12, 0, 0, 0, 18}) && near(tp::hvp(cube, x, x), {6, 24, 54}));
    EXPECT(code_of([&] { tp::grad([](const Tensor &a) { return a; })(x); }) != TP_OK); // no number

    auto both = [](const Tensor &a, const Tensor &b) { return std::array{a * b, a + b}; };
    auto j = tp::jacrev<0, 1>(both)(x, x);
    EXPECT(near(j[0][1], {1, 0, 0, 0, 2, 0, 0, 0, 3}) && near(j[1][0], {1, 0, 0, 0, 1, 0, 0, 0, 1}));
    auto columns = tp::jacfwd(both)(x, x);
    EXPECT(columns.size() == 2 && near(columns[0], {1, 0, 0, 0, 2, 0, 0, 0, 3}));
    auto second = tp::hessian<0, 1>([](const Tensor &a, const Tensor &b) { return tp::sum(a * b); })(x, x);
    EXPECT(near(second[0][0], std::vector<double>(9)) && near(second[0][1], {1, 0, 0, 0, 1, 0, 0, 0, 1}));
    auto [result, cotangents] = tp::vjp(both, std::array{x, x}, std::array{x, Tensor()});
    EXPECT(near(result[1], {2, 4, 6}) && near(cotangents[0], {1, 4, 9}));
    auto [primal, tangent] = tp::jvp(both, std::array{x, x}, std::array{x, Tensor()});
    EXPECT(near(primal[0], {1, 4, 9}) && near(tangent[0], {1, 4, 9}) && near(tangent[1], {1, 2, 3}));
    EXPECT(near(tp::vjp(cube, x, Tensor::from({2.0})[0]).second, {6, 24, 54}));

    // Whatever is thrown passes every level, and leaves nothing behind.
    struct Own {
        std::string text;
    };
    int calls = 0;
    auto deep = [&](const Tensor &a) -> Tensor {
        Tensor kept = a * 2;
        if (++calls > 0) throw Own{"thrown at depth three"};
        return tp::sum(kept);
    };
    try {
        tp::vmap(tp::grad([&](const Tensor &a) { return tp::jvp(deep, a, a).second; }))(x);
        EXPECT(!"nothing was thrown");
    } catch (const Own &own) {
        EXPECT(own.text == "thrown at depth three");
    }
    EXPECT(tp_level_depth() == 0);
    EXPECT(code_of([&] {
               tp::vmap(tp::grad([](const Tensor &a) { return tp::sum(tp::reshape(a, {5})); }))(m);
           }) != TP_OK);
    EXPECT(tp_level_depth() == 0);

    std::vector<std::thread> threads;
    std::array<bool, 4> right = {};
    for (std::size_t k = 0; k < right.size(); k++)
        threads.emplace_back([&, k] {
            bool good = true;
            for (int i = 0; i < 20; i++) good = good && near(tp::vmap(tp::grad(tp::grad(cube)))(x), {6, 12, 18});
            right[k] = good;
        });
    for (std::thread &t : threads) t.join();
    for (bool good : right) EXPECT(good);
}

} // namespace

int main()
{
    try {
        tensors();
        operators();
        autograd();
        transforms();
    } catch (const std::exception &e) {
        std::printf("unexpected: %s\n", e.what());
        failures++;
    }
    EXPECT(tp_live_tensors() == 0);
    tp_empty_cache(); // what is left now, a leak checker sees
    return failures != 0;
}
