/* Tensors for C++17: owning handles, exceptions, and the values that operators take. Included by tp/tp.hpp. */
#ifndef TP_TENSOR_HPP
#define TP_TENSOR_HPP

#include <tp/dtype.h>
#include <tp/error.h>
#include <tp/random.h>
#include <tp/tensor.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tp
{

using Dtype = tp_dtype;

/* A failed call: its one-line message, and its code of tp/error.h. */
class Error : public std::runtime_error
{
  public:
    Error(int code, const std::string &message) : std::runtime_error(message), code_(code) {}
    int code() const noexcept { return code_; }

  private:
    int code_;
};

[[noreturn]] inline void fail() { throw Error(tp_error_code(), tp_error_message()); }

inline void check(int status)
{
    if (status != TP_OK) throw Error(status, tp_error_message());
}

/* The dtype of a type of C++. */
template <class V> struct DtypeOf;
#define TP_DTYPE_OF_(V, D)                \
    template <> struct DtypeOf<V> {       \
        static constexpr Dtype value = D; \
    }
TP_DTYPE_OF_(bool, TP_BOOL);
TP_DTYPE_OF_(std::uint8_t, TP_UINT8);
TP_DTYPE_OF_(std::int8_t, TP_INT8);
TP_DTYPE_OF_(std::uint16_t, TP_UINT16);
TP_DTYPE_OF_(std::int16_t, TP_INT16);
TP_DTYPE_OF_(std::uint32_t, TP_UINT32);
TP_DTYPE_OF_(std::int32_t, TP_INT32);
TP_DTYPE_OF_(std::uint64_t, TP_UINT64);
TP_DTYPE_OF_(std::int64_t, TP_INT64);
TP_DTYPE_OF_(float, TP_FLOAT32);
TP_DTYPE_OF_(double, TP_FLOAT64);
TP_DTYPE_OF_(std::complex<float>, TP_COMPLEX64);
TP_DTYPE_OF_(std::complex<double>, TP_COMPLEX128);
#undef TP_DTYPE_OF_

/* A number as an argument of an operator. */
class Scalar
{
  public:
    template <class N, class = std::enable_if_t<std::is_arithmetic<N>::value>> Scalar(N n) : value_()
    {
        if constexpr (std::is_same<N, bool>::value) {
            value_.tag = TP_SCALAR_BOOL;
            value_.v.i = n ? 1 : 0;
        } else if constexpr (std::is_floating_point<N>::value) {
            value_.tag = TP_SCALAR_FLOAT;
            value_.v.f = static_cast<double>(n);
        } else if constexpr (std::is_unsigned<N>::value) {
            value_.tag = TP_SCALAR_UINT;
            value_.v.u = static_cast<std::uint64_t>(n);
        } else {
            value_.tag = TP_SCALAR_INT;
            value_.v.i = static_cast<std::int64_t>(n);
        }
    }
    Scalar(std::complex<double> z) : value_()
    {
        value_.tag = TP_SCALAR_COMPLEX;
        value_.v.c[0] = z.real();
        value_.v.c[1] = z.imag();
    }
    const tp_scalar *get() const noexcept { return &value_; }

  private:
    tp_scalar value_;
};

/* A reference to a tensor: copies share the tensor. Empty (false) is an absent argument, or a moved-from handle. */
class Tensor
{
  public:
    Tensor() noexcept = default;
    Tensor(const Tensor &other) noexcept : t_(other.t_)
    {
        if (t_) tp_retain(t_);
    }
    Tensor(Tensor &&other) noexcept : t_(std::exchange(other.t_, nullptr)) {}
    Tensor &operator=(Tensor other) noexcept
    {
        std::swap(t_, other.t_);
        return *this;
    }
    ~Tensor() { tp_release(t_); }

    /* Owns a reference that C handed out; throws where that is NULL. */
    static Tensor take(tp_tensor *t)
    {
        if (!t) fail();
        Tensor result;
        result.t_ = t;
        return result;
    }
    /* Takes part in a handle that stays C's; NULL is empty. */
    static Tensor share(tp_tensor *t) noexcept
    {
        Tensor result;
        if (t) tp_retain(t);
        result.t_ = t;
        return result;
    }
    /* A copy of contiguous values in C order. */
    template <class V> static Tensor from(const V *values, const std::vector<std::int64_t> &shape)
    {
        return take(tp_from_data(values, DtypeOf<V>::value, static_cast<int>(shape.size()), shape.data()));
    }
    /* Of a list without a shape: one dimension. */
    template <class V> static Tensor from(const std::vector<V> &values, std::vector<std::int64_t> shape = {-1})
    {
        if constexpr (std::is_same<V, bool>::value) { /* which has no memory of bools */
            std::unique_ptr<bool[]> plain(new bool[values.size() + 1]);
            for (std::size_t i = 0; i < values.size(); i++) plain[i] = values[i];
            return from(plain.get(), fitting(values.size(), std::move(shape)));
        } else {
            return from(values.data(), fitting(values.size(), std::move(shape)));
        }
    }
    template <class V> static Tensor from(std::initializer_list<V> values, std::vector<std::int64_t> shape = {-1})
    {
        return from(values.begin(), fitting(values.size(), std::move(shape)));
    }
    /* A tensor of the memory itself, which `owner` keeps alive. */
    template <class V>
    static Tensor borrow(V *values, const std::vector<std::int64_t> &shape, std::shared_ptr<void> owner = {})
    {
        auto *kept = new std::shared_ptr<void>(std::move(owner));
        auto drop = [](void *payload) { delete static_cast<std::shared_ptr<void> *>(payload); };
        using Element = std::remove_const_t<V>;
        return take(tp_from_memory(const_cast<Element *>(values), DtypeOf<Element>::value,
                                   static_cast<int>(shape.size()), shape.data(), nullptr, std::is_const<V>::value, drop,
                                   kept));
    }

    tp_tensor *handle() const noexcept { return t_; }
    tp_tensor *release() noexcept { return std::exchange(t_, nullptr); } /* the reference becomes the caller's */
    explicit operator bool() const noexcept { return t_ != nullptr; }

    int ndim() const noexcept { return tp_ndim(t_); }
    Dtype dtype() const noexcept { return static_cast<Dtype>(tp_tensor_dtype(t_)); }
    std::int64_t numel() const noexcept { return tp_numel(t_); }
    std::vector<std::int64_t> shape() const
    {
        const std::int64_t *sizes = tp_shape(t_);
        return std::vector<std::int64_t>(sizes, sizes + ndim());
    }
    std::int64_t size(int dim) const
    {
        int n = ndim(), d = dim < 0 ? dim + n : dim;
        if (d < 0 || d >= n)
            throw Error(TP_ERR_INDEX, "size: dimension " + std::to_string(dim) + " of " + std::to_string(n));
        return tp_shape(t_)[d];
    }
    bool is_contiguous() const noexcept { return tp_is_contiguous(t_); }

    /* The single element. */
    template <class V = double> V item() const
    {
        tp_scalar s;
        check(tp_item(t_, &s));
        switch (s.tag) {
        case TP_SCALAR_FLOAT: return static_cast<V>(s.v.f);
        case TP_SCALAR_UINT: return static_cast<V>(s.v.u);
        case TP_SCALAR_COMPLEX: throw Error(TP_ERR_TYPE, "item: complex; use complex_item");
        default: return static_cast<V>(s.v.i);
        }
    }
    std::complex<double> complex_item() const
    {
        tp_scalar s;
        check(tp_item(t_, &s));
        return s.tag == TP_SCALAR_COMPLEX ? std::complex<double>(s.v.c[0], s.v.c[1]) : item<double>();
    }
    /* The memory of a tensor that no level tracks; strides are in elements. */
    template <class V> V *data() const
    {
        if (DtypeOf<std::remove_const_t<V>>::value != dtype())
            throw Error(TP_ERR_TYPE, std::string("data: of another type than ") + tp_dtype_name(dtype()));
        void *p = tp_data(t_);
        if (!p && numel() != 0) fail();
        return static_cast<V *>(p);
    }
    template <class V> std::vector<V> values() const; /* a copy in C order, converted to V */

    Tensor operator[](std::int64_t index) const; /* of the first dimension, a view */
    Tensor &operator+=(const class Operand &other);
    Tensor &operator-=(const class Operand &other);
    Tensor &operator*=(const class Operand &other);
    Tensor &operator/=(const class Operand &other);

    bool requires_grad() const noexcept { return tp_requires_grad(t_); }
    Tensor &requires_grad_(bool value = true)
    {
        check(tp_set_requires_grad(t_, value));
        return *this;
    }
    Tensor detach() const { return take(tp_detach(t_)); }
    /* The gradient that a backward left here; empty without one. */
    Tensor grad() const
    {
        tp_error_clear();
        tp_tensor *g = tp_grad_get(t_);
        if (!g && tp_error_code() != TP_OK) fail();
        return g ? take(g) : Tensor();
    }

  private:
    static std::vector<std::int64_t> fitting(std::size_t count, std::vector<std::int64_t> shape)
    {
        std::int64_t n = 1, have = static_cast<std::int64_t>(count);
        if (shape.size() == 1 && shape[0] == -1) shape[0] = have;
        for (std::int64_t size : shape) n *= size;
        if (n != have)
            throw Error(TP_ERR_VALUE, "Tensor::from: " + std::to_string(have) + " values for a shape of " +
                                          std::to_string(n) + " elements");
        return shape;
    }

    tp_tensor *t_ = nullptr;
};

/* A tensor, or a number that takes the dtype of what it meets. */
class Operand
{
  public:
    Operand(const Tensor &t) noexcept : t_(t) {}
    Operand(const Scalar &number) : t_(Tensor::take(tp_weak_scalar(number.get()))) {}
    template <class N, class = std::enable_if_t<std::is_arithmetic<N>::value>> Operand(N n) : Operand(Scalar(n)) {}
    Operand(std::complex<double> z) : Operand(Scalar(z)) {}
    tp_tensor *handle() const noexcept { return t_.handle(); }

  private:
    Tensor t_;
};

/* Lists of an operator's argument; a number is a list of one. */
template <class V> class List
{
  public:
    List() = default;
    List(std::initializer_list<V> values) : values_(values) {}
    List(std::vector<V> values) : values_(std::move(values)) {}
    template <class N, class = std::enable_if_t<std::is_arithmetic<N>::value>> List(N n) : values_{static_cast<V>(n)} {}
    const V *data() const noexcept { return values_.data(); }
    std::int64_t size() const noexcept { return static_cast<std::int64_t>(values_.size()); }

  private:
    std::vector<V> values_;
};

/* The same, absent by default. */
template <class V> class OptionalList
{
  public:
    OptionalList() = default;
    OptionalList(std::initializer_list<V> values) : list_(List<V>(values)) {}
    OptionalList(std::vector<V> values) : list_(List<V>(std::move(values))) {}
    template <class N, class = std::enable_if_t<std::is_arithmetic<N>::value>> OptionalList(N n) : list_(List<V>(n)) {}
    const V *data() const noexcept { return list_ ? list_->data() : nullptr; }
    std::int64_t size() const noexcept { return list_ ? list_->size() : -1; }

  private:
    std::optional<List<V>> list_;
};

using Ints = List<std::int64_t>;
using Floats = List<double>;
using OptionalInts = OptionalList<std::int64_t>;
using OptionalFloats = OptionalList<double>;

class Tensors
{
  public:
    Tensors(std::initializer_list<Tensor> list) : kept_(list) { point(); }
    Tensors(std::vector<Tensor> list) : kept_(std::move(list)) { point(); }
    tp_tensor *const *data() const noexcept { return handles_.data(); }
    std::int64_t size() const noexcept { return static_cast<std::int64_t>(handles_.size()); }

  private:
    void point()
    {
        for (const Tensor &t : kept_) handles_.push_back(t.handle());
    }
    std::vector<Tensor> kept_;
    std::vector<tp_tensor *> handles_;
};

/* A random generator; the empty one is that of the process. */
class Generator
{
  public:
    Generator() noexcept = default;
    explicit Generator(std::uint64_t seed) : g_(tp_generator_new(seed))
    {
        if (!g_) fail();
    }
    Generator(const Generator &other) noexcept : g_(other.g_)
    {
        if (g_) tp_generator_retain(g_);
    }
    Generator(Generator &&other) noexcept : g_(std::exchange(other.g_, nullptr)) {}
    Generator &operator=(Generator other) noexcept
    {
        std::swap(g_, other.g_);
        return *this;
    }
    ~Generator() { tp_generator_release(g_); }
    tp_generator *handle() const noexcept { return g_; }

  private:
    tp_generator *g_ = nullptr;
};

/* Results that C hands out in arrays. */
template <std::size_t N> std::array<Tensor, N> take(tp_tensor *const (&out)[N])
{
    std::array<Tensor, N> result;
    for (std::size_t i = 0; i < N; i++) result[i] = Tensor::take(out[i]);
    return result;
}

inline std::vector<Tensor> take(tp_tensor **out, std::int64_t n)
{
    std::vector<Tensor> result;
    for (std::int64_t i = 0; i < n; i++) result.push_back(Tensor::share(out[i]));
    tp_free_list(out, n);
    return result;
}

} // namespace tp

#endif
