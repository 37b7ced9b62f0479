//! The C ABI as it is. The functions are declared from the installed headers; see those for what they do.
#![allow(non_camel_case_types, missing_docs)]

use std::os::raw::{c_char, c_int, c_void};

#[repr(C)]
pub struct tp_tensor {
    _private: [u8; 0],
}

#[repr(C)]
pub struct tp_generator {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union tp_scalar_value {
    pub i: i64,
    pub u: u64,
    pub f: f64,
    pub c: [f64; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tp_scalar {
    pub tag: i32,
    pub reserved: i32,
    pub v: tp_scalar_value,
}

pub type tp_function_call = unsafe extern "C" fn(
    payload: *mut c_void,
    args: *const *mut tp_tensor,
    n_args: i64,
    results: *mut *mut tp_tensor,
    n_results: i64,
) -> c_int;

#[repr(C)]
pub struct tp_function {
    pub struct_size: usize,
    pub call: Option<tp_function_call>,
    pub payload: *mut c_void,
    pub destroy: Option<unsafe extern "C" fn(payload: *mut c_void)>,
}

#[repr(C)]
pub struct tp_vmap_options {
    pub struct_size: usize,
    pub in_dims: *const c_int,
    pub out_dims: *const c_int,
    pub randomness: c_int,
    pub batch_size: i64,
    pub chunk_size: i64,
}

#[repr(C)]
pub struct tp_memory_stats {
    pub struct_size: usize,
    pub allocated_bytes: u64,
    pub cached_bytes: u64,
    pub peak_bytes: u64,
    pub allocation_count: u64,
}

pub const TP_DIM_NONE: c_int = c_int::MIN;
pub const TP_INT_NONE: i64 = i64::MIN;
pub const TP_DTYPE_NONE: c_int = -1;

include!(concat!(env!("OUT_DIR"), "/functions.rs"));
