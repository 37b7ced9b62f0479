//! Transforms of closures.

use std::any::Any;
use std::cell::Cell;
use std::os::raw::{c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;

use crate::{ffi, Error, Result, Tensor};

/// What a function returns: a tensor or an array of tensors.
pub trait Outputs: Sized {
    /// How many tensors.
    const COUNT: usize;
    /// Hands them out.
    fn into_tensors(self) -> Vec<Tensor>;
    /// Takes COUNT of them.
    fn from_tensors(tensors: impl Iterator<Item = Tensor>) -> Self;
    /// Their handles.
    fn handles(&self) -> Vec<*mut ffi::tp_tensor>;
}

impl Outputs for Tensor {
    const COUNT: usize = 1;
    fn into_tensors(self) -> Vec<Tensor> {
        vec![self]
    }
    fn from_tensors(mut tensors: impl Iterator<Item = Tensor>) -> Self {
        tensors.next().expect("a result")
    }
    fn handles(&self) -> Vec<*mut ffi::tp_tensor> {
        vec![self.as_raw()]
    }
}

impl<const M: usize> Outputs for [Tensor; M] {
    const COUNT: usize = M;
    fn into_tensors(self) -> Vec<Tensor> {
        self.into()
    }
    fn from_tensors(mut tensors: impl Iterator<Item = Tensor>) -> Self {
        std::array::from_fn(|_| tensors.next().expect("a result"))
    }
    fn handles(&self) -> Vec<*mut ffi::tp_tensor> {
        self.iter().map(Tensor::as_raw).collect()
    }
}

/// A closure as a callback of C, for the time of one call.
struct Callback<'f, F> {
    f: &'f F,
    failed: Cell<Option<Error>>,
    panicked: Cell<Option<Box<dyn Any + Send>>>,
}

impl<'f, F> Callback<'f, F> {
    fn new(f: &'f F) -> Self {
        Callback { f, failed: Cell::new(None), panicked: Cell::new(None) }
    }

    /// Borrows self, which has to outlive the call that is made with it.
    fn function<const N: usize, R: Outputs>(&self) -> ffi::tp_function
    where
        F: Fn(&[Tensor; N]) -> Result<R>,
    {
        ffi::tp_function {
            struct_size: std::mem::size_of::<ffi::tp_function>(),
            call: Some(call::<F, N, R>),
            payload: self as *const Self as *mut c_void,
            destroy: None,
        }
    }

    /// Goes on with a panic of the closure, returns its error, or the library's.
    fn check(self, status: c_int) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        if let Some(panic) = self.panicked.take() {
            resume_unwind(panic);
        }
        Err(self.failed.take().unwrap_or_else(Error::last))
    }
}

/// # Safety
/// Called by libtp with the payload of `Callback::function`, and with arrays of these lengths.
unsafe extern "C" fn call<F, const N: usize, R: Outputs>(
    payload: *mut c_void,
    args: *const *mut ffi::tp_tensor,
    n_args: i64,
    results: *mut *mut ffi::tp_tensor,
    n_results: i64,
) -> c_int
where
    F: Fn(&[Tensor; N]) -> Result<R>,
{
    let callback = unsafe { &*(payload as *const Callback<'_, F>) };
    if n_args != N as i64 || n_results != R::COUNT as i64 {
        return Error::new(Error::VALUE, "callback: wrong number of arguments or results").set();
    }
    // Nothing may unwind into C.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let borrowed: [Tensor; N] = std::array::from_fn(|i| unsafe {
            let t = *args.add(i);
            ffi::tp_retain(t);
            Tensor::from_raw(t).expect("an argument")
        });
        (callback.f)(&borrowed)
    }));
    match outcome {
        Ok(Ok(values)) => {
            for (i, t) in values.into_tensors().into_iter().enumerate() {
                unsafe { *results.add(i) = t.into_raw() };
            }
            0
        }
        Ok(Err(error)) => {
            let code = error.set();
            callback.failed.set(Some(error));
            code
        }
        Err(panic) => {
            callback.panicked.set(Some(panic));
            Error::new(Error::CALLBACK, "the function panicked").set()
        }
    }
}

fn handles<const N: usize>(tensors: &[Tensor; N]) -> [*mut ffi::tp_tensor; N] {
    std::array::from_fn(|i| tensors[i].as_raw())
}

/// Places for results of C; what is not taken is released.
struct Slots(Vec<*mut ffi::tp_tensor>);

impl Slots {
    fn new(n: usize) -> Self {
        Slots(vec![ptr::null_mut(); n.max(1)])
    }
    fn as_mut_ptr(&mut self) -> *mut *mut ffi::tp_tensor {
        self.0.as_mut_ptr()
    }
    /// After a call that succeeded: every entry is a reference.
    fn tensors(mut self) -> impl Iterator<Item = Tensor> {
        // SAFETY: the references are ours, and the entries are forgotten.
        let taken = std::mem::take(&mut self.0);
        taken.into_iter().map(|t| unsafe { Tensor::from_raw(t) }.expect("a result"))
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        for t in &self.0 {
            // SAFETY: NULL, or a reference that is ours.
            unsafe { ffi::tp_release(*t) }
        }
    }
}

/// What random operators do under vmap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Randomness {
    /// They fail.
    #[default]
    Error,
    /// They draw anew for every sample.
    Different,
    /// All samples share what they draw.
    Same,
}

/// Which dimensions vmap maps over.
#[derive(Clone, Debug)]
pub struct Map<const N: usize> {
    in_dims: [Option<i32>; N],
    out_dim: i32,
    randomness: Randomness,
    chunk_size: i64,
}

impl<const N: usize> Map<N> {
    /// The dimension of each argument; None is not mapped.
    pub fn over(in_dims: [Option<i32>; N]) -> Self {
        Map { in_dims, out_dim: 0, randomness: Randomness::Error, chunk_size: 0 }
    }
    /// The first dimension of every argument.
    pub fn all() -> Self {
        Self::over([Some(0); N])
    }
    /// Where results have their dimension of samples.
    pub fn out_dim(self, out_dim: i32) -> Self {
        Map { out_dim, ..self }
    }
    /// What random operators do.
    pub fn randomness(self, randomness: Randomness) -> Self {
        Map { randomness, ..self }
    }
    /// How many samples at once; less memory, more calls.
    pub fn chunks(self, chunk_size: i64) -> Self {
        Map { chunk_size, ..self }
    }
}

/// The function of all samples at once.
pub fn vmap<const N: usize, R: Outputs>(
    f: impl Fn(&[Tensor; N]) -> Result<R>,
    map: Map<N>,
) -> impl Fn(&[Tensor; N]) -> Result<R> {
    move |args| {
        let callback = Callback::new(&f);
        let function = callback.function::<N, R>();
        let in_dims = map.in_dims.map(|d| d.unwrap_or(ffi::TP_DIM_NONE));
        let out_dims = vec![map.out_dim; R::COUNT.max(1)];
        let options = ffi::tp_vmap_options {
            struct_size: std::mem::size_of::<ffi::tp_vmap_options>(),
            in_dims: in_dims.as_ptr(),
            out_dims: out_dims.as_ptr(),
            randomness: map.randomness as c_int,
            batch_size: 0,
            chunk_size: map.chunk_size,
        };
        let inputs = handles(args);
        let mut out = Slots::new(R::COUNT);
        // SAFETY: every array has the length that is passed with it.
        let status = unsafe {
            ffi::tp_vmap(&function, inputs.as_ptr(), N as i64, &options, out.as_mut_ptr(), R::COUNT as i64)
        };
        callback.check(status)?;
        Ok(R::from_tensors(out.tensors()))
    }
}

/// Value and gradients, by the arguments of these numbers, of a function that returns one number.
pub fn value_and_grad<const N: usize, const A: usize>(
    f: impl Fn(&[Tensor; N]) -> Result<Tensor>,
    argnums: [i64; A],
) -> impl Fn(&[Tensor; N]) -> Result<(Tensor, [Tensor; A])> {
    move |args| {
        let callback = Callback::new(&f);
        let function = callback.function::<N, Tensor>();
        let inputs = handles(args);
        let (mut value, mut grads) = (Slots::new(1), Slots::new(A));
        // SAFETY: every array has the length that is passed with it.
        let status = unsafe {
            ffi::tp_grad(
                &function,
                inputs.as_ptr(),
                N as i64,
                argnums.as_ptr(),
                A as i64,
                value.as_mut_ptr(),
                grads.as_mut_ptr(),
            )
        };
        callback.check(status)?;
        Ok((Tensor::from_tensors(value.tensors()), Outputs::from_tensors(grads.tensors())))
    }
}

/// Gradients, by the arguments of these numbers, of a function that returns one number.
pub fn grad<const N: usize, const A: usize>(
    f: impl Fn(&[Tensor; N]) -> Result<Tensor>,
    argnums: [i64; A],
) -> impl Fn(&[Tensor; N]) -> Result<[Tensor; A]> {
    let both = value_and_grad(f, argnums);
    move |args| Ok(both(args)?.1)
}

/// Results, and cotangents of all arguments, for cotangents of the results.
pub fn vjp<const N: usize, R: Outputs>(
    f: impl Fn(&[Tensor; N]) -> Result<R>,
    args: &[Tensor; N],
    cotangents: &R,
) -> Result<(R, [Tensor; N])> {
    let callback = Callback::new(&f);
    let function = callback.function::<N, R>();
    let (inputs, from) = (handles(args), cotangents.handles());
    let (mut out, mut grads) = (Slots::new(R::COUNT), Slots::new(N));
    // SAFETY: every array has the length that is passed with it.
    let status = unsafe {
        ffi::tp_vjp(
            &function,
            inputs.as_ptr(),
            N as i64,
            from.as_ptr(),
            out.as_mut_ptr(),
            R::COUNT as i64,
            grads.as_mut_ptr(),
        )
    };
    callback.check(status)?;
    Ok((R::from_tensors(out.tensors()), Outputs::from_tensors(grads.tensors())))
}

/// Results and their tangents, for tangents of the arguments; None is zero.
pub fn jvp<const N: usize, R: Outputs>(
    f: impl Fn(&[Tensor; N]) -> Result<R>,
    args: &[Tensor; N],
    tangents: [Option<&Tensor>; N],
) -> Result<(R, R)> {
    let callback = Callback::new(&f);
    let function = callback.function::<N, R>();
    let (inputs, along) = (handles(args), tangents.map(|t| t.map_or(ptr::null_mut(), Tensor::as_raw)));
    let (mut out, mut moved) = (Slots::new(R::COUNT), Slots::new(R::COUNT));
    // SAFETY: every array has the length that is passed with it.
    let status = unsafe {
        ffi::tp_jvp(
            &function,
            inputs.as_ptr(),
            along.as_ptr(),
            N as i64,
            out.as_mut_ptr(),
            moved.as_mut_ptr(),
            R::COUNT as i64,
        )
    };
    callback.check(status)?;
    Ok((R::from_tensors(out.tensors()), R::from_tensors(moved.tensors())))
}

macro_rules! jacobian {
    ($(#[$doc:meta])* $name:ident $c:ident) => {
        $(#[$doc])*
        pub fn $name<const N: usize, const A: usize>(
            f: impl Fn(&[Tensor; N]) -> Result<Tensor>,
            argnums: [i64; A],
        ) -> impl Fn(&[Tensor; N]) -> Result<[Tensor; A]> {
            move |args| {
                let callback = Callback::new(&f);
                let function = callback.function::<N, Tensor>();
                let inputs = handles(args);
                let mut out = Slots::new(A);
                // SAFETY: every array has the length that is passed with it.
                let status = unsafe {
                    ffi::$c(
                        &function,
                        inputs.as_ptr(),
                        N as i64,
                        argnums.as_ptr(),
                        A as i64,
                        ptr::null_mut(),
                        1,
                        out.as_mut_ptr(),
                    )
                };
                callback.check(status)?;
                Ok(Outputs::from_tensors(out.tensors()))
            }
        }
    };
}
jacobian! {
    /// Jacobians by reverse mode, of shape (result's shape) + (argument's shape).
    jacrev tp_jacrev
}
jacobian! {
    /// Jacobians by forward mode, of shape (result's shape) + (argument's shape).
    jacfwd tp_jacfwd
}

/// Second derivatives of a function that returns one number: by pairs of the arguments of these numbers.
pub fn hessian<const N: usize, const A: usize>(
    f: impl Fn(&[Tensor; N]) -> Result<Tensor>,
    argnums: [i64; A],
) -> impl Fn(&[Tensor; N]) -> Result<[[Tensor; A]; A]> {
    move |args| {
        let callback = Callback::new(&f);
        let function = callback.function::<N, Tensor>();
        let inputs = handles(args);
        let mut out = Slots::new(A * A);
        // SAFETY: every array has the length that is passed with it.
        let status = unsafe {
            ffi::tp_hessian(&function, inputs.as_ptr(), N as i64, argnums.as_ptr(), A as i64, out.as_mut_ptr())
        };
        callback.check(status)?;
        let mut tensors = out.tensors();
        Ok(std::array::from_fn(|_| <[Tensor; A]>::from_tensors(tensors.by_ref())))
    }
}
