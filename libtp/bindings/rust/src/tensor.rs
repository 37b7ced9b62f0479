//! Owned tensors and their operators.

use std::ops::{Add, Div, Mul, Neg, Sub};
use std::os::raw::{c_int, c_void};
use std::ptr::{self, NonNull};

use crate::{check, ffi, Error, Result};

/// Element types, numbered as in tp/dtype.h.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum DType {
    Bool = 0,
    UInt8 = 1,
    Int8 = 2,
    UInt16 = 3,
    Int16 = 4,
    UInt32 = 5,
    Int32 = 6,
    UInt64 = 7,
    Int64 = 8,
    Float16 = 9,
    BFloat16 = 10,
    Float32 = 11,
    Float64 = 12,
    Complex64 = 13,
    Complex128 = 14,
}

impl DType {
    fn of(number: c_int) -> Self {
        use DType::*;
        const ALL: [DType; 15] = [
            Bool, UInt8, Int8, UInt16, Int16, UInt32, Int32, UInt64, Int64, Float16, BFloat16, Float32, Float64,
            Complex64, Complex128,
        ];
        ALL[usize::try_from(number).expect("a dtype")]
    }
}

mod sealed {
    pub trait Sealed {}
}

/// Rust types that are elements of tensors.
pub trait Element: Copy + Default + sealed::Sealed {
    /// The dtype with the same memory.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($kind:ty: $dtype:ident),*) => { $(
        impl sealed::Sealed for $kind {}
        impl Element for $kind {
            const DTYPE: DType = DType::$dtype;
        }
    )* };
}
// bool is not among them: memory that C wrote may hold other bytes than 0 and 1.
elements!(u8: UInt8, i8: Int8, u16: UInt16, i16: Int16, u32: UInt32, i32: Int32, u64: UInt64, i64: Int64,
          f32: Float32, f64: Float64);

/// A number as an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
}

impl Scalar {
    pub(crate) fn raw(self) -> ffi::tp_scalar {
        let (tag, v) = match self {
            Scalar::Int(i) => (2, ffi::tp_scalar_value { i }),
            Scalar::Float(f) => (4, ffi::tp_scalar_value { f }),
        };
        ffi::tp_scalar { tag, reserved: 0, v }
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Self {
        Scalar::Float(value)
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Self {
        Scalar::Int(value)
    }
}

impl From<i32> for Scalar {
    fn from(value: i32) -> Self {
        Scalar::Int(value.into())
    }
}

/// A reference to a tensor of libtp; clones share the tensor. There is no way to write into one from here, so that
/// handles may be shared between threads.
pub struct Tensor(NonNull<ffi::tp_tensor>);

// SAFETY: reference counts are atomic, reads are safe from any thread, and nothing here writes.
unsafe impl Send for Tensor {}
unsafe impl Sync for Tensor {}

impl Drop for Tensor {
    fn drop(&mut self) {
        // SAFETY: one reference is owned.
        unsafe { ffi::tp_release(self.0.as_ptr()) }
    }
}

impl Clone for Tensor {
    fn clone(&self) -> Self {
        // SAFETY: the handle is alive, and the reference is the clone's.
        unsafe { ffi::tp_retain(self.0.as_ptr()) };
        Tensor(self.0)
    }
}

fn length(n: usize) -> i64 {
    i64::try_from(n).expect("a length that memory can hold")
}

impl Tensor {
    /// Owns a reference that C handed out; NULL is the last error of the thread.
    ///
    /// # Safety
    /// A pointer other than NULL has to be a tensor, of which one reference is the caller's.
    pub unsafe fn from_raw(t: *mut ffi::tp_tensor) -> Result<Self> {
        NonNull::new(t).map(Tensor).ok_or_else(Error::last)
    }

    /// The handle, which stays owned by this value.
    pub fn as_raw(&self) -> *mut ffi::tp_tensor {
        self.0.as_ptr()
    }

    /// The handle, with its reference.
    pub fn into_raw(self) -> *mut ffi::tp_tensor {
        let t = self.0.as_ptr();
        std::mem::forget(self);
        t
    }

    /// A copy of values in C order.
    pub fn from_slice<E: Element>(values: &[E], shape: &[i64]) -> Result<Self> {
        let n = shape.iter().try_fold(1i64, |n, &size| if size < 0 { None } else { n.checked_mul(size) });
        if n != Some(length(values.len())) {
            let text = format!("from_slice: {} values for shape {shape:?}", values.len());
            return Err(Error::new(Error::VALUE, text));
        }
        let ndim = c_int::try_from(shape.len()).map_err(|_| Error::new(Error::VALUE, "from_slice: too many sizes"))?;
        // SAFETY: values holds as many elements as the shape says.
        unsafe { Self::from_raw(ffi::tp_from_data(values.as_ptr().cast(), E::DTYPE as c_int, ndim, shape.as_ptr())) }
    }

    /// A tensor without dimensions that takes the dtype of what it meets.
    pub fn number(value: impl Into<Scalar>) -> Result<Self> {
        let scalar = value.into().raw();
        // SAFETY: the scalar is read during the call.
        unsafe { Self::from_raw(ffi::tp_weak_scalar(&scalar)) }
    }

    /// 0, 1, 2 ... as doubles.
    pub fn arange(n: i64) -> Result<Self> {
        let end = Scalar::Int(n).raw();
        // SAFETY: the scalar is read during the call.
        unsafe { Self::from_raw(ffi::tp_arange(&end, DType::Float64 as c_int)) }
    }

    /// The sizes; under vmap those of one sample.
    pub fn shape(&self) -> Vec<i64> {
        // SAFETY: tp_shape has tp_ndim entries while the tensor lives.
        unsafe {
            let n = usize::try_from(ffi::tp_ndim(self.as_raw())).expect("ndim");
            let sizes = ffi::tp_shape(self.as_raw());
            if n == 0 || sizes.is_null() { Vec::new() } else { std::slice::from_raw_parts(sizes, n).to_vec() }
        }
    }

    /// The dtype.
    pub fn dtype(&self) -> DType {
        // SAFETY: the handle is alive.
        DType::of(unsafe { ffi::tp_tensor_dtype(self.as_raw()) })
    }

    /// A copy of the elements in C order, converted to E.
    pub fn to_vec<E: Element>(&self) -> Result<Vec<E>> {
        // SAFETY: contiguous memory of numel elements of E, read before it is released.
        unsafe {
            let cast = Self::from_raw(ffi::tp_cast(self.as_raw(), E::DTYPE as c_int))?;
            let plain = Self::from_raw(ffi::tp_contiguous(cast.as_raw()))?;
            let n = usize::try_from(ffi::tp_numel(plain.as_raw())).expect("numel");
            let mut values = vec![E::default(); n];
            if n > 0 {
                let data = ffi::tp_data(plain.as_raw()) as *const c_void;
                if data.is_null() {
                    return Err(Error::last());
                }
                ptr::copy_nonoverlapping(data.cast::<E>(), values.as_mut_ptr(), n);
            }
            Ok(values)
        }
    }

    /// The single element.
    pub fn item(&self) -> Result<f64> {
        let mut s = Scalar::Int(0).raw();
        // SAFETY: s is written on success, and its tag says which member.
        unsafe {
            check(ffi::tp_item(self.as_raw(), &mut s))?;
            match s.tag {
                4 => Ok(s.v.f),
                3 => Ok(s.v.u as f64),
                5 => Err(Error::new(Error::TYPE, "item: complex")),
                _ => Ok(s.v.i as f64),
            }
        }
    }

    /// y = x W' + b.
    pub fn linear(&self, weight: &Tensor, bias: Option<&Tensor>) -> Result<Self> {
        let bias = bias.map_or(ptr::null_mut(), Tensor::as_raw);
        // SAFETY: arguments are borrowed for the call, a NULL bias is none.
        unsafe { Self::from_raw(ffi::tp_linear(self.as_raw(), weight.as_raw(), bias)) }
    }

    /// The sum of all elements.
    pub fn sum(&self) -> Result<Self> {
        // SAFETY: length -1 is no list.
        unsafe { Self::from_raw(ffi::tp_sum(self.as_raw(), ptr::null(), -1, false, ffi::TP_DTYPE_NONE)) }
    }

    /// Sums over dimensions.
    pub fn sum_over(&self, dims: &[i64], keepdim: bool) -> Result<Self> {
        let n = length(dims.len());
        // SAFETY: dims holds n integers.
        unsafe { Self::from_raw(ffi::tp_sum(self.as_raw(), dims.as_ptr(), n, keepdim, ffi::TP_DTYPE_NONE)) }
    }

    /// The mean of all elements.
    pub fn mean(&self) -> Result<Self> {
        // SAFETY: length -1 is no list.
        unsafe { Self::from_raw(ffi::tp_mean(self.as_raw(), ptr::null(), -1, false, ffi::TP_DTYPE_NONE)) }
    }

    /// Another shape of the same elements; one size may be -1.
    pub fn reshape(&self, shape: &[i64]) -> Result<Self> {
        // SAFETY: shape holds that many integers.
        unsafe { Self::from_raw(ffi::tp_reshape(self.as_raw(), shape.as_ptr(), length(shape.len()))) }
    }

    /// One index of a dimension.
    pub fn select(&self, dim: i64, index: i64) -> Result<Self> {
        // SAFETY: the argument is borrowed for the call.
        unsafe { Self::from_raw(ffi::tp_select(self.as_raw(), dim, index)) }
    }

    /// Two dimensions exchanged.
    pub fn transpose(&self, dim0: i64, dim1: i64) -> Result<Self> {
        // SAFETY: the argument is borrowed for the call.
        unsafe { Self::from_raw(ffi::tp_transpose(self.as_raw(), dim0, dim1)) }
    }

    /// Elements as another type.
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        // SAFETY: the argument is borrowed for the call.
        unsafe { Self::from_raw(ffi::tp_cast(self.as_raw(), dtype as c_int)) }
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tensor({:?}, shape {:?}", self.dtype(), self.shape())?;
        if let Ok(values) = self.to_vec::<f64>() {
            write!(f, ", {values:?}")?;
        }
        f.write_str(")")
    }
}

macro_rules! unary {
    ($($name:ident: $c:ident),* $(,)?) => {
        impl Tensor { $(
            #[doc = concat!("The operator `", stringify!($name), "`, element by element.")]
            pub fn $name(&self) -> Result<Self> {
                // SAFETY: the argument is borrowed for the call.
                unsafe { Self::from_raw(ffi::$c(self.as_raw())) }
            }
        )* }
    };
}
unary!(abs: tp_abs, sgn: tp_sgn, square: tp_square, sqrt: tp_sqrt, exp: tp_exp, log: tp_log, log1p: tp_log1p,
       expm1: tp_expm1, sin: tp_sin, cos: tp_cos, tan: tp_tan, asin: tp_asin, acos: tp_acos, atan: tp_atan,
       sinh: tp_sinh, cosh: tp_cosh, tanh: tp_tanh, erf: tp_erf, lgamma: tp_lgamma, sigmoid: tp_sigmoid, relu: tp_relu,
       negative: tp_neg, t: tp_t, contiguous: tp_contiguous, detach: tp_detach);

macro_rules! binary {
    ($($name:ident: $c:ident),* $(,)?) => {
        impl Tensor { $(
            #[doc = concat!("The operator `", stringify!($name), "`.")]
            pub fn $name(&self, other: &Tensor) -> Result<Self> {
                // SAFETY: the arguments are borrowed for the call.
                unsafe { Self::from_raw(ffi::$c(self.as_raw(), other.as_raw())) }
            }
        )* }
    };
}
binary!(matmul: tp_matmul, maximum: tp_maximum, minimum: tp_minimum, pow: tp_pow, atan2: tp_atan2,
        eq_elements: tp_eq, lt: tp_lt, le: tp_le, gt: tp_gt, ge: tp_ge);

macro_rules! operators {
    ($($operator:ident $method:ident $c:ident ($($more:tt)*);)*) => { $(
        impl $operator<&Tensor> for &Tensor {
            type Output = Result<Tensor>;
            fn $method(self, other: &Tensor) -> Result<Tensor> {
                // SAFETY: the arguments are borrowed for the call.
                unsafe { Tensor::from_raw(ffi::$c(self.as_raw(), other.as_raw() $($more)*)) }
            }
        }
        impl $operator<f64> for &Tensor {
            type Output = Result<Tensor>;
            fn $method(self, other: f64) -> Result<Tensor> {
                $operator::$method(self, &Tensor::number(other)?)
            }
        }
        impl $operator<&Tensor> for f64 {
            type Output = Result<Tensor>;
            fn $method(self, other: &Tensor) -> Result<Tensor> {
                $operator::$method(&Tensor::number(self)?, other)
            }
        }
        impl $operator<&Tensor> for Tensor {
            type Output = Result<Tensor>;
            fn $method(self, other: &Tensor) -> Result<Tensor> {
                $operator::$method(&self, other)
            }
        }
        impl $operator<f64> for Tensor {
            type Output = Result<Tensor>;
            fn $method(self, other: f64) -> Result<Tensor> {
                $operator::$method(&self, other)
            }
        }
    )* };
}
operators! {
    Add add tp_add (, &Scalar::Int(1).raw());
    Sub sub tp_sub (, &Scalar::Int(1).raw());
    Mul mul tp_mul ();
    Div div tp_div ();
}

impl Neg for &Tensor {
    type Output = Result<Tensor>;
    fn neg(self) -> Result<Tensor> {
        self.negative()
    }
}
