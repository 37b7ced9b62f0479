/* libtp for C++17, in headers alone: owning tensors, operators, exceptions, and transforms of lambdas.
 *
 *     auto loss = [](const tp::Tensor &w, const tp::Tensor &x) { return tp::mean(tp::pow(tp::tanh(x * w) - 1, 2)); };
 *     tp::Tensor gradient = tp::grad(loss)(w, x);
 *     tp::Tensor per_sample = tp::vmap(tp::grad(loss), {{tp::not_mapped, 0}})(w, x);
 *
 * A function takes tensors and returns a tensor, or a std::array, std::pair or std::tuple of tensors. What it throws
 * passes through every transform to the caller. */
#ifndef TP_TP_HPP
#define TP_TP_HPP

#include <tp/ops.hpp>
#include <tp/tensor.hpp>
#include <tp/tp.h>

#include <climits>
#include <exception>
#include <tuple>

namespace tp
{

/* -- formulas ------------------------------------------------------------------------------------ */

/* A number as a tensor that takes the dtype of what it meets. */
inline Tensor number(const Scalar &value) { return Tensor::take(tp_weak_scalar(value.get())); }

namespace detail
{
template <class N> using Number = std::enable_if_t<std::is_arithmetic<N>::value, int>;
}

inline Tensor operator-(const Tensor &a) { return neg(a); }
inline Tensor operator+(const Tensor &a, const Operand &b) { return add(a, b); }
inline Tensor operator-(const Tensor &a, const Operand &b) { return sub(a, b); }
inline Tensor operator*(const Tensor &a, const Operand &b) { return mul(a, b); }
inline Tensor operator/(const Tensor &a, const Operand &b) { return div(a, b); }
template <class N, detail::Number<N> = 0> Tensor operator+(N a, const Tensor &b) { return add(number(a), b); }
template <class N, detail::Number<N> = 0> Tensor operator-(N a, const Tensor &b) { return sub(number(a), b); }
template <class N, detail::Number<N> = 0> Tensor operator*(N a, const Tensor &b) { return mul(number(a), b); }
template <class N, detail::Number<N> = 0> Tensor operator/(N a, const Tensor &b) { return div(number(a), b); }

inline Tensor &Tensor::operator+=(const Operand &other) { return add_(*this, other); }
inline Tensor &Tensor::operator-=(const Operand &other) { return sub_(*this, other); }
inline Tensor &Tensor::operator*=(const Operand &other) { return mul_(*this, other); }
inline Tensor &Tensor::operator/=(const Operand &other) { return div_(*this, other); }
inline Tensor Tensor::operator[](std::int64_t index) const { return select(*this, 0, index); }

template <class V> std::vector<V> Tensor::values() const
{
    Tensor plain = contiguous(cast(*this, DtypeOf<V>::value));
    const V *first = plain.data<const V>();
    return std::vector<V>(first, first + plain.numel());
}

/* While it lives, nothing is recorded for derivatives. */
class NoGrad
{
  public:
    NoGrad() : token_(tp_grad_mode_set(false)) {}
    NoGrad(const NoGrad &) = delete;
    NoGrad &operator=(const NoGrad &) = delete;
    ~NoGrad() { tp_grad_mode_restore(token_); }

  private:
    int token_;
};

/* -- functions as callbacks ---------------------------------------------------------------------- */

namespace detail
{

/* What a function may return, as a number of tensors. */
template <class R> struct Results {
    static_assert(sizeof(R) == 0, "a function returns a Tensor, or a std::array, std::pair or std::tuple of them");
};
template <> struct Results<Tensor> {
    static constexpr std::size_t count = 1;
    static void store(Tensor &&r, tp_tensor **out) { out[0] = r.release(); }
    static Tensor load(tp_tensor *const *in) { return Tensor::take(in[0]); }
};
template <std::size_t N> struct Results<std::array<Tensor, N>> {
    static constexpr std::size_t count = N;
    static void store(std::array<Tensor, N> &&r, tp_tensor **out)
    {
        for (std::size_t i = 0; i < N; i++) out[i] = r[i].release();
    }
    static std::array<Tensor, N> load(tp_tensor *const *in)
    {
        std::array<Tensor, N> r;
        for (std::size_t i = 0; i < N; i++) r[i] = Tensor::take(in[i]);
        return r;
    }
};
/* Whatever std::get takes apart; members may be of such types themselves. */
template <class R, class... Parts> struct Members {
    static constexpr std::size_t count = (Results<Parts>::count + ... + 0);
    static void store(R &&r, tp_tensor **out)
    {
        std::apply([&](auto &&...part) { (store_part(std::move(part), out), ...); }, std::move(r));
    }
    static R load(tp_tensor *const *in) { return R{load_part<Parts>(in)...}; }

  private:
    template <class P> static void store_part(P &&part, tp_tensor **&out)
    {
        Results<std::decay_t<P>>::store(std::move(part), out);
        out += Results<std::decay_t<P>>::count;
    }
    template <class P> static P load_part(tp_tensor *const *&in)
    {
        tp_tensor *const *at = in;
        in += Results<P>::count;
        return Results<P>::load(at);
    }
};
template <class A, class B> struct Results<std::pair<A, B>> : Members<std::pair<A, B>, A, B> {
};
template <class... A> struct Results<std::tuple<A...>> : Members<std::tuple<A...>, A...> {
};

template <std::size_t> using Argument = const Tensor &;
template <class F, class Indices> struct ResultOf;
template <class F, std::size_t... I> struct ResultOf<F, std::index_sequence<I...>> {
    using type = std::decay_t<std::invoke_result_t<const F &, Argument<I>...>>;
};

/* A function of N tensors that C calls; lives as long as the call it is made for. */
template <class F, std::size_t N> class Callback
{
  public:
    using Result = typename ResultOf<F, std::make_index_sequence<N>>::type;
    static constexpr std::size_t count = Results<Result>::count;

    explicit Callback(const F &f) : f_(f), function_()
    {
        function_.struct_size = sizeof function_;
        function_.call = &Callback::run;
        function_.payload = this;
    }
    Callback(const Callback &) = delete;
    Callback &operator=(const Callback &) = delete;

    const tp_function *get() const noexcept { return &function_; }
    /* Throws what the function has thrown, or what the library says. */
    void check(int status)
    {
        if (status != TP_OK && thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
        tp::check(status);
    }

  private:
    static int run(void *payload, tp_tensor *const *args, std::int64_t n_args, tp_tensor **results,
                   std::int64_t n_results)
    {
        auto *self = static_cast<Callback *>(payload);
        try {
            if (n_args != static_cast<std::int64_t>(N) || n_results != static_cast<std::int64_t>(count))
                return tp_error_set(TP_ERR_VALUE, "callback: wrong number of arguments or results");
            Results<Result>::store(self->apply(args, std::make_index_sequence<N>()), results);
            return TP_OK;
        } catch (const Error &e) {
            self->thrown_ = std::current_exception();
            return tp_error_set(e.code(), e.what());
        } catch (const std::exception &e) {
            self->thrown_ = std::current_exception();
            return tp_error_set(TP_ERR_CALLBACK, e.what());
        } catch (...) {
            self->thrown_ = std::current_exception();
            return tp_error_set(TP_ERR_CALLBACK, "the function threw something that is no std::exception");
        }
    }
    template <std::size_t... I> Result apply(tp_tensor *const *args, std::index_sequence<I...>) const
    {
        (void)args;
        return f_(Tensor::share(args[I])...);
    }

    const F &f_;
    tp_function function_;
    std::exception_ptr thrown_;
};

/* Handles that C fills; what a failure leaves there is released. */
template <std::size_t N> class Slots
{
  public:
    Slots() = default;
    Slots(const Slots &) = delete;
    Slots &operator=(const Slots &) = delete;
    ~Slots()
    {
        for (tp_tensor *t : t_) tp_release(t);
    }
    tp_tensor **data() noexcept { return t_.data(); }
    template <class R> R take(std::size_t at = 0)
    {
        R result = Results<R>::load(t_.data() + at);
        for (std::size_t i = 0; i < Results<R>::count; i++) t_[at + i] = nullptr;
        return result;
    }

  private:
    std::array<tp_tensor *, N == 0 ? 1 : N> t_ = {};
};

/* One tensor as itself, several as an array. */
template <std::size_t N> using OneOrMany = std::conditional_t<N == 1, Tensor, std::array<Tensor, N>>;

template <int... Argnums> struct Chosen {
    static constexpr std::size_t count = sizeof...(Argnums);
    static constexpr std::int64_t numbers[] = {Argnums...};
};
template <> struct Chosen<> : Chosen<0> {
};

template <std::size_t N> std::array<tp_tensor *, N> handles(const std::array<Tensor, N> &tensors)
{
    std::array<tp_tensor *, N> result;
    for (std::size_t i = 0; i < N; i++) result[i] = tensors[i].handle();
    return result;
}

} // namespace detail

/* -- transforms ---------------------------------------------------------------------------------- */

constexpr int not_mapped = TP_DIM_NONE;

/* Empty lists of dimensions: 0 for all. chunk_size 0: all at once. */
struct VmapOptions {
    std::vector<int> in_dims = {};
    std::vector<int> out_dims = {};
    int randomness = TP_RANDOM_ERROR;
    std::int64_t batch_size = 0;
    std::int64_t chunk_size = 0;
};

/* f of every sample at once; the result is called like f. */
template <class F> auto vmap(F f, VmapOptions options = {})
{
    return [f = std::move(f), options = std::move(options)](const auto &...args) {
        constexpr std::size_t n = sizeof...(args);
        detail::Callback<F, n> callback(f);
        using R = typename detail::Callback<F, n>::Result;
        if (!options.in_dims.empty() && options.in_dims.size() != n)
            throw Error(TP_ERR_VALUE, "vmap: " + std::to_string(options.in_dims.size()) + " in_dims for " +
                                          std::to_string(n) + " arguments");
        if (!options.out_dims.empty() && options.out_dims.size() != callback.count)
            throw Error(TP_ERR_VALUE, "vmap: " + std::to_string(options.out_dims.size()) + " out_dims for " +
                                          std::to_string(callback.count) + " results");
        tp_vmap_options o = {};
        o.struct_size = sizeof o;
        o.in_dims = options.in_dims.empty() ? nullptr : options.in_dims.data();
        o.out_dims = options.out_dims.empty() ? nullptr : options.out_dims.data();
        o.randomness = options.randomness;
        o.batch_size = options.batch_size;
        o.chunk_size = options.chunk_size;
        std::array<tp_tensor *, n> in = {args.handle()...};
        detail::Slots<callback.count> out;
        callback.check(tp_vmap(callback.get(), in.data(), n, &o, out.data(), callback.count));
        return out.template take<R>();
    };
}

/* (value, gradient) of a function that returns one number, with respect to the arguments of these numbers. */
template <int... Argnums, class F> auto value_and_grad(F f)
{
    return [f = std::move(f)](const auto &...args) {
        constexpr std::size_t n = sizeof...(args);
        using Which = detail::Chosen<Argnums...>;
        detail::Callback<F, n> callback(f);
        std::array<tp_tensor *, n> in = {args.handle()...};
        detail::Slots<1> value;
        detail::Slots<Which::count> grads;
        callback.check(tp_grad(callback.get(), in.data(), n, Which::numbers, Which::count, value.data(), grads.data()));
        return std::pair<Tensor, detail::OneOrMany<Which::count>>(
            value.template take<Tensor>(), grads.template take<detail::OneOrMany<Which::count>>());
    };
}

template <int... Argnums, class F> auto grad(F f)
{
    return [both = value_and_grad<Argnums...>(std::move(f))](const auto &...args) { return both(args...).second; };
}

/* (results, cotangents of all arguments) for the cotangents of the results. */
template <class F, std::size_t N, std::size_t M>
auto vjp(const F &f, const std::array<Tensor, N> &args, const std::array<Tensor, M> &cotangents)
{
    detail::Callback<F, N> callback(f);
    using R = typename detail::Callback<F, N>::Result;
    static_assert(callback.count == M, "one cotangent for each result");
    auto in = detail::handles(args);
    auto from = detail::handles(cotangents);
    detail::Slots<M> out;
    detail::Slots<N> grads;
    callback.check(tp_vjp(callback.get(), in.data(), N, from.data(), out.data(), M, grads.data()));
    return std::pair<R, std::array<Tensor, N>>(out.template take<R>(), grads.template take<std::array<Tensor, N>>());
}

template <class F> auto vjp(const F &f, const Tensor &arg, const Tensor &cotangent)
{
    auto both = vjp(f, std::array<Tensor, 1>{arg}, std::array<Tensor, 1>{cotangent});
    return std::pair<Tensor, Tensor>(std::move(both.first), std::move(both.second[0]));
}

/* (results, their tangents) for the tangents of the arguments; an empty tensor is a zero tangent. */
template <class F, std::size_t N>
auto jvp(const F &f, const std::array<Tensor, N> &args, const std::array<Tensor, N> &tangents)
{
    detail::Callback<F, N> callback(f);
    using R = typename detail::Callback<F, N>::Result;
    auto in = detail::handles(args), along = detail::handles(tangents);
    detail::Slots<callback.count> out, out_tangents;
    callback.check(tp_jvp(callback.get(), in.data(), along.data(), N, out.data(), out_tangents.data(), callback.count));
    return std::pair<R, R>(out.template take<R>(), out_tangents.template take<R>());
}

template <class F> auto jvp(const F &f, const Tensor &arg, const Tensor &tangent)
{
    return jvp(f, std::array<Tensor, 1>{arg}, std::array<Tensor, 1>{tangent});
}

namespace detail
{

/* Jacobians of M results by A arguments: the tensor itself, an array, or an array (results) of arrays. */
template <std::size_t M, std::size_t A> auto matrix(Slots<M * A> &slots)
{
    if constexpr (M == 1 || A == 1) {
        return slots.template take<OneOrMany<M * A>>();
    } else {
        std::array<std::array<Tensor, A>, M> rows;
        for (std::size_t i = 0; i < M; i++) rows[i] = slots.template take<std::array<Tensor, A>>(i * A);
        return rows;
    }
}

template <class Which, class F> auto jacobian(F f, decltype(&tp_jacrev) of)
{
    return [f = std::move(f), of](const auto &...args) {
        constexpr std::size_t n = sizeof...(args);
        Callback<F, n> callback(f);
        std::array<tp_tensor *, n> in = {args.handle()...};
        Slots<callback.count * Which::count> out;
        callback.check(
            of(callback.get(), in.data(), n, Which::numbers, Which::count, nullptr, callback.count, out.data()));
        return matrix<Callback<F, n>::count, Which::count>(out);
    };
}

} // namespace detail

/* Jacobians by reverse and by forward mode: of shape (result's shape) + (argument's shape). */
template <int... Argnums, class F> auto jacrev(F f)
{
    return detail::jacobian<detail::Chosen<Argnums...>>(std::move(f), &tp_jacrev);
}

template <int... Argnums, class F> auto jacfwd(F f)
{
    return detail::jacobian<detail::Chosen<Argnums...>>(std::move(f), &tp_jacfwd);
}

/* Second derivatives of a function that returns one number; of several arguments an array of arrays. */
template <int... Argnums, class F> auto hessian(F f)
{
    return [f = std::move(f)](const auto &...args) {
        constexpr std::size_t n = sizeof...(args);
        using Which = detail::Chosen<Argnums...>;
        detail::Callback<F, n> callback(f);
        std::array<tp_tensor *, n> in = {args.handle()...};
        detail::Slots<Which::count * Which::count> out;
        callback.check(tp_hessian(callback.get(), in.data(), n, Which::numbers, Which::count, out.data()));
        return detail::matrix<Which::count, Which::count>(out);
    };
}

/* The product of the Hessian at x with v: forward mode over reverse mode, without the matrix. */
template <class F> Tensor hvp(const F &f, const Tensor &x, const Tensor &v) { return jvp(grad(f), x, v).second; }

} // namespace tp

#endif
