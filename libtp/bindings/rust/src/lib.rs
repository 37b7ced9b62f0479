//! Tensors with composable function transforms, on the C library libtp.
//!
//! A [`Tensor`] owns a reference to a tensor of libtp; every call returns a [`Result`]. Functions to transform are
//! closures over an array of tensors, and what a transform returns is such a closure again:
//!
//! ```no_run
//! use libtp::{grad, vmap, Map, Result, Tensor};
//!
//! fn main() -> Result<()> {
//!     let w = Tensor::from_slice(&[0.5, 2.0], &[2])?;
//!     let x = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0], &[2, 2])?;
//!     let loss = |[w, x]: &[Tensor; 2]| (x * w)?.tanh()?.square()?.sum();
//!     let [per_sample] = vmap(grad(loss, [0]), Map::over([None, Some(0)]))(&[w, x])?;
//!     println!("{:?}", per_sample.to_vec::<f64>()?);
//!     Ok(())
//! }
//! ```
//!
//! [`ffi`] holds every function of the C ABI, for what has no safe form here; [`Tensor::from_raw`] and
//! [`Tensor::as_raw`] lead from one to the other.
#![warn(missing_docs)]

pub mod ffi;
mod tensor;
mod transform;

pub use tensor::{DType, Element, Scalar, Tensor};
pub use transform::{grad, hessian, jacfwd, jacrev, jvp, value_and_grad, vjp, vmap, Map, Outputs, Randomness};

use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::c_int;

/// A failed call: its code of tp/error.h and its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: i32,
    message: String,
}

/// What every call returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Code of a value, shape or dtype that does not fit.
    pub const VALUE: i32 = 1;
    /// Code of an argument of the wrong kind.
    pub const TYPE: i32 = 2;
    /// Code of an index out of range.
    pub const INDEX: i32 = 3;
    /// Code of a call that is not allowed in this state.
    pub const RUNTIME: i32 = 4;
    /// Code of a callback that failed by itself.
    pub const CALLBACK: i32 = 7;

    /// An error of one's own, to return from a function that is being transformed.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Error { code, message: message.into() }
    }

    /// The code of tp/error.h.
    pub fn code(&self) -> i32 {
        self.code
    }

    /// The message, one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The last failure of this thread.
    fn last() -> Self {
        // SAFETY: the message is never NULL and lives until the next failure in this thread.
        let (code, text) = unsafe { (ffi::tp_error_code(), CStr::from_ptr(ffi::tp_error_message())) };
        Error { code, message: text.to_string_lossy().into_owned() }
    }

    /// Leaves it in the thread for C, and returns the code.
    fn set(&self) -> c_int {
        let text = CString::new(self.message.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the message is copied.
        unsafe { ffi::tp_error_set(self.code, text.as_ptr()) };
        if self.code == 0 { Self::CALLBACK } else { self.code }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

fn check(status: c_int) -> Result<()> {
    if status == 0 { Ok(()) } else { Err(Error::last()) }
}

/// Whether the loaded library has the ABI that this crate was written for.
pub fn abi_matches() -> bool {
    // SAFETY: takes nothing.
    unsafe { ffi::tp_abi_version() == 0 }
}

/// How many tensors are alive in this process, for tests of leaks.
pub fn live_tensors() -> i64 {
    // SAFETY: takes nothing.
    unsafe { ffi::tp_live_tensors() }
}
