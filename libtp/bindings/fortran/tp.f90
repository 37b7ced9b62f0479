! libtp for Fortran: the types of its C ABI, what is not an operator, and arrays to and from tensors. The operators are
! in tp_ops.f90, which is compiled after this file.
!
! A tensor is a c_ptr that owns a reference: tp_release gives it back. An array a(i, j) and the tensor made of it have
! the same indices, counted from 0 in the tensor.
module tp
    use, intrinsic :: iso_c_binding
    implicit none
    public

    integer(c_int), parameter :: TP_ABI = 0
    integer(c_int), parameter :: TP_OK = 0, TP_ERR_VALUE = 1, TP_ERR_TYPE = 2, TP_ERR_INDEX = 3, TP_ERR_RUNTIME = 4, &
        TP_ERR_NOT_IMPLEMENTED = 5, TP_ERR_MEMORY = 6, TP_ERR_CALLBACK = 7, TP_ERR_LINALG = 8, TP_ERR_BUFFER = 9
    integer(c_int), parameter :: TP_BOOL = 0, TP_INT32 = 6, TP_INT64 = 8, TP_FLOAT32 = 11, TP_FLOAT64 = 12, &
        TP_COMPLEX64 = 13, TP_COMPLEX128 = 14, TP_DTYPE_NONE = -1
    integer(c_int), parameter :: TP_RANDOM_ERROR = 0, TP_RANDOM_DIFFERENT = 1, TP_RANDOM_SAME = 2
    integer(c_int), parameter :: TP_DIM_NONE = -huge(0_c_int) - 1
    integer(c_int64_t), parameter :: TP_INT_NONE = -huge(0_c_int64_t) - 1

    type, bind(c) :: tp_scalar
        integer(c_int32_t) :: tag = 2, reserved = 0
        integer(c_int64_t) :: value(2) = 0 ! an integer, or the bits of one or two reals
    end type

    ! A function of tensors; the payload is handed to it.
    type, bind(c) :: tp_function
        integer(c_size_t) :: struct_size = 0
        type(c_funptr) :: call = c_null_funptr
        type(c_ptr) :: payload = c_null_ptr
        type(c_funptr) :: destroy = c_null_funptr
    end type

    type, bind(c) :: tp_vmap_options
        integer(c_size_t) :: struct_size = 0
        type(c_ptr) :: in_dims = c_null_ptr, out_dims = c_null_ptr
        integer(c_int) :: randomness = TP_RANDOM_ERROR
        integer(c_int64_t) :: batch_size = 0, chunk_size = 0
    end type

    abstract interface
        ! Stores new references in results and returns TP_OK, or an error code. args are borrowed.
        function tp_callback(payload, args, n_args, results, n_results) result(status) bind(c)
            import :: c_ptr, c_int, c_int64_t
            type(c_ptr), value :: payload
            integer(c_int64_t), value :: n_args, n_results
            type(c_ptr), intent(in) :: args(n_args)
            type(c_ptr), intent(inout) :: results(n_results)
            integer(c_int) :: status
        end function
    end interface

    interface
        function tp_abi_version() result(r) bind(c)
            import :: c_int
            integer(c_int) :: r
        end function
        function tp_error_code() result(r) bind(c)
            import :: c_int
            integer(c_int) :: r
        end function
        function tp_error_message() result(r) bind(c)
            import :: c_ptr
            type(c_ptr) :: r
        end function
        subroutine tp_error_clear() bind(c)
        end subroutine
        subroutine tp_retain(t) bind(c)
            import :: c_ptr
            type(c_ptr), value :: t
        end subroutine
        subroutine tp_release(t) bind(c)
            import :: c_ptr
            type(c_ptr), value :: t
        end subroutine
        function tp_ndim(t) result(r) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: t
            integer(c_int) :: r
        end function
        function tp_numel(t) result(r) bind(c)
            import :: c_ptr, c_int64_t
            type(c_ptr), value :: t
            integer(c_int64_t) :: r
        end function
        function tp_tensor_dtype(t) result(r) bind(c)
            import :: c_ptr, c_int
            type(c_ptr), value :: t
            integer(c_int) :: r
        end function
        function tp_shape_pointer(t) result(r) bind(c, name="tp_shape")
            import :: c_ptr
            type(c_ptr), value :: t
            type(c_ptr) :: r
        end function
        function tp_data(t) result(r) bind(c)
            import :: c_ptr
            type(c_ptr), value :: t
            type(c_ptr) :: r
        end function
        function tp_live_tensors() result(r) bind(c)
            import :: c_int64_t
            integer(c_int64_t) :: r
        end function
        function tp_from_memory(data, dtype, ndim, shape, strides, readonly, deleter, payload) result(r) bind(c)
            import :: c_ptr, c_funptr, c_int, c_int64_t, c_bool
            type(c_ptr), value :: data, payload
            integer(c_int), value :: dtype, ndim
            integer(c_int64_t), intent(in) :: shape(*), strides(*)
            logical(c_bool), value :: readonly
            type(c_funptr), value :: deleter
            type(c_ptr) :: r
        end function

        ! Transforms; see tp/transform.h.
        function tp_vmap(f, args, n_args, options, results, n_results) result(r) bind(c)
            import :: c_ptr, c_int, c_int64_t, tp_function, tp_vmap_options
            type(tp_function), intent(in) :: f
            type(c_ptr), intent(in) :: args(*)
            integer(c_int64_t), value :: n_args, n_results
            type(tp_vmap_options), intent(in), optional :: options
            type(c_ptr), intent(inout) :: results(*)
            integer(c_int) :: r
        end function
        function tp_vjp(f, args, n_args, cotangents, results, n_results, grads) result(r) bind(c)
            import :: c_ptr, c_int, c_int64_t, tp_function
            type(tp_function), intent(in) :: f
            type(c_ptr), intent(in) :: args(*)
            type(c_ptr), intent(in), optional :: cotangents(*)
            integer(c_int64_t), value :: n_args, n_results
            type(c_ptr), intent(inout), optional :: results(*)
            type(c_ptr), intent(inout) :: grads(*)
            integer(c_int) :: r
        end function
        function tp_grad(f, args, n_args, argnums, n_argnums, value, grads) result(r) bind(c)
            import :: c_ptr, c_int, c_int64_t, tp_function
            type(tp_function), intent(in) :: f
            type(c_ptr), intent(in) :: args(*)
            integer(c_int64_t), value :: n_args, n_argnums
            integer(c_int64_t), intent(in), optional :: argnums(*)
            type(c_ptr), intent(inout), optional :: value
            type(c_ptr), intent(inout) :: grads(*)
            integer(c_int) :: r
        end function
        function tp_jvp(f, args, tangents, n_args, results, tangents_out, n_results) result(r) bind(c)
            import :: c_ptr, c_int, c_int64_t, tp_function
            type(tp_function), intent(in) :: f
            type(c_ptr), intent(in) :: args(*), tangents(*)
            integer(c_int64_t), value :: n_args, n_results
            type(c_ptr), intent(inout) :: results(*), tangents_out(*)
            integer(c_int) :: r
        end function
        function tp_jacrev(f, args, n_args, argnums, n_argnums, results, n_results, jacobians) result(r) bind(c)
            import :: c_ptr, c_int, c_int64_t, tp_function
            type(tp_function), intent(in) :: f
            type(c_ptr), intent(in) :: args(*)
            integer(c_int64_t), value :: n_args, n_argnums, n_results
            integer(c_int64_t), intent(in), optional :: argnums(*)
            type(c_ptr), intent(inout), optional :: results(*)
            type(c_ptr), intent(inout) :: jacobians(*)
            integer(c_int) :: r
        end function
        function tp_jacfwd(f, args, n_args, argnums, n_argnums, results, n_results, jacobians) result(r) bind(c)
            import :: c_ptr, c_int, c_int64_t, tp_function
            type(tp_function), intent(in) :: f
            type(c_ptr), intent(in) :: args(*)
            integer(c_int64_t), value :: n_args, n_argnums, n_results
            integer(c_int64_t), intent(in), optional :: argnums(*)
            type(c_ptr), intent(inout), optional :: results(*)
            type(c_ptr), intent(inout) :: jacobians(*)
            integer(c_int) :: r
        end function
        function tp_hessian(f, args, n_args, argnums, n_argnums, hessians) result(r) bind(c)
            import :: c_ptr, c_int, c_int64_t, tp_function
            type(tp_function), intent(in) :: f
            type(c_ptr), intent(in) :: args(*)
            integer(c_int64_t), value :: n_args, n_argnums
            integer(c_int64_t), intent(in), optional :: argnums(*)
            type(c_ptr), intent(inout) :: hessians(*)
            integer(c_int) :: r
        end function

        function clone(t) result(r) bind(c, name="tp_clone")
            import :: c_ptr
            type(c_ptr), value :: t
            type(c_ptr) :: r
        end function
        function cast(t, dtype) result(r) bind(c, name="tp_cast")
            import :: c_ptr, c_int
            type(c_ptr), value :: t
            integer(c_int), value :: dtype
            type(c_ptr) :: r
        end function
        function contiguous(t) result(r) bind(c, name="tp_contiguous")
            import :: c_ptr
            type(c_ptr), value :: t
            type(c_ptr) :: r
        end function
        function permute(t, dims, n_dims) result(r) bind(c, name="tp_permute")
            import :: c_ptr, c_int64_t
            type(c_ptr), value :: t
            integer(c_int64_t), intent(in) :: dims(*)
            integer(c_int64_t), value :: n_dims
            type(c_ptr) :: r
        end function
    end interface
    private :: clone, cast, contiguous, permute, from_memory_of, fill

    ! A tensor of the values and the shape of an array, in memory of its own.
    interface tp_from
        module procedure from_double_1, from_double_2, from_double_3, from_float_1, from_float_2, from_float_3
    end interface

    ! The elements of a tensor into an array of the same shape; TP_OK or an error code.
    interface tp_get
        module procedure get_double_0, get_double_1, get_double_2, get_double_3
    end interface
    private :: from_double_1, from_double_2, from_double_3, from_float_1, from_float_2, from_float_3
    private :: get_double_0, get_double_1, get_double_2, get_double_3

    interface tp_number
        module procedure integer_number, real_number
    end interface
    private :: integer_number, real_number

contains

    ! A function to hand to a transform: tp_make_function(c_funloc(f)) of a procedure with the interface tp_callback.
    function tp_make_function(call, payload) result(f)
        type(c_funptr), intent(in) :: call
        type(c_ptr), intent(in), optional :: payload
        type(tp_function) :: f
        f%struct_size = c_sizeof(f)
        f%call = call
        if (present(payload)) f%payload = payload
    end function

    ! Options of vmap over these dimensions of the arguments, TP_DIM_NONE for what is not mapped.
    function tp_map_over(in_dims) result(options)
        integer(c_int), intent(in), target :: in_dims(:)
        type(tp_vmap_options) :: options
        options%struct_size = c_sizeof(options)
        options%in_dims = c_loc(in_dims(1))
    end function

    ! Numbers as arguments of operators.
    function integer_number(i) result(s)
        integer(c_int64_t), intent(in) :: i
        type(tp_scalar) :: s
        s%tag = 2
        s%value(1) = i
    end function

    function real_number(x) result(s)
        real(c_double), intent(in) :: x
        type(tp_scalar) :: s
        s%tag = 4
        s%value(1) = transfer(x, s%value(1))
    end function

    ! The message of the last failure in this thread.
    function tp_message() result(text)
        character(:), allocatable :: text
        character(kind=c_char), pointer :: bytes(:)
        integer :: n
        call c_f_pointer(tp_error_message(), bytes, [1024])
        n = 0
        do while (n < 1023)
            if (bytes(n + 1) == c_null_char) exit
            n = n + 1
        end do
        allocate (character(n) :: text)
        text = transfer(bytes(:n), text)
    end function

    ! The sizes of a tensor.
    function tp_sizes(t) result(sizes)
        type(c_ptr), intent(in) :: t
        integer(c_int64_t), allocatable :: sizes(:)
        integer(c_int64_t), pointer :: own(:)
        allocate (sizes(tp_ndim(t)))
        if (size(sizes) == 0) return
        call c_f_pointer(tp_shape_pointer(t), own, [size(sizes)])
        sizes = own
    end function

    function from_memory_of(data, dtype, sizes) result(t)
        type(c_ptr), intent(in) :: data
        integer(c_int), intent(in) :: dtype
        integer, intent(in) :: sizes(:)
        type(c_ptr) :: t, borrowed
        integer(c_int64_t) :: strides(size(sizes))
        integer :: k
        strides(1) = 1
        do k = 2, size(sizes)
            strides(k) = strides(k - 1) * max(sizes(k - 1), 1)
        end do
        borrowed = tp_from_memory(data, dtype, size(sizes, kind=c_int), int(sizes, c_int64_t), strides, &
            .true._c_bool, c_null_funptr, c_null_ptr)
        t = clone(borrowed)
        call tp_release(borrowed)
    end function

    function from_double_1(a) result(t)
        real(c_double), intent(in), contiguous, target :: a(:)
        type(c_ptr) :: t
        t = from_memory_of(c_loc(a), TP_FLOAT64, shape(a))
    end function
    function from_double_2(a) result(t)
        real(c_double), intent(in), contiguous, target :: a(:, :)
        type(c_ptr) :: t
        t = from_memory_of(c_loc(a), TP_FLOAT64, shape(a))
    end function
    function from_double_3(a) result(t)
        real(c_double), intent(in), contiguous, target :: a(:, :, :)
        type(c_ptr) :: t
        t = from_memory_of(c_loc(a), TP_FLOAT64, shape(a))
    end function
    function from_float_1(a) result(t)
        real(c_float), intent(in), contiguous, target :: a(:)
        type(c_ptr) :: t
        t = from_memory_of(c_loc(a), TP_FLOAT32, shape(a))
    end function
    function from_float_2(a) result(t)
        real(c_float), intent(in), contiguous, target :: a(:, :)
        type(c_ptr) :: t
        t = from_memory_of(c_loc(a), TP_FLOAT32, shape(a))
    end function
    function from_float_3(a) result(t)
        real(c_float), intent(in), contiguous, target :: a(:, :, :)
        type(c_ptr) :: t
        t = from_memory_of(c_loc(a), TP_FLOAT32, shape(a))
    end function

    ! Elements in the order of Fortran; a tensor of another shape is TP_ERR_VALUE.
    function fill(t, sizes, values) result(status)
        type(c_ptr), intent(in) :: t
        integer, intent(in) :: sizes(:)
        real(c_double), intent(out) :: values(*)
        integer(c_int) :: status
        type(c_ptr) :: doubles, turned, plain
        real(c_double), pointer :: own(:)
        integer(c_int64_t) :: dims(size(sizes))
        integer(c_int64_t), allocatable :: have(:)
        integer :: k, n
        status = TP_ERR_VALUE
        if (.not. c_associated(t)) return
        have = tp_sizes(t)
        if (size(have) /= size(sizes)) return
        if (any(have /= sizes)) return
        dims = [(int(size(sizes) - k, c_int64_t), k = 1, size(sizes))]
        doubles = cast(t, TP_FLOAT64)
        turned = permute(doubles, dims, size(sizes, kind=c_int64_t))
        plain = contiguous(turned)
        status = TP_OK
        n = int(tp_numel(t))
        if (.not. c_associated(plain)) then
            status = tp_error_code()
        else if (n > 0) then
            if (c_associated(tp_data(plain))) then
                call c_f_pointer(tp_data(plain), own, [n])
                values(1:n) = own
            else
                status = tp_error_code()
            end if
        end if
        call tp_release(doubles)
        call tp_release(turned)
        call tp_release(plain)
    end function

    function get_double_0(t, a) result(status)
        type(c_ptr), intent(in) :: t
        real(c_double), intent(out) :: a
        integer(c_int) :: status
        real(c_double) :: one(1)
        status = fill(t, [integer ::], one)
        a = one(1)
    end function
    function get_double_1(t, a) result(status)
        type(c_ptr), intent(in) :: t
        real(c_double), intent(out), contiguous :: a(:)
        integer(c_int) :: status
        status = fill(t, shape(a), a)
    end function
    function get_double_2(t, a) result(status)
        type(c_ptr), intent(in) :: t
        real(c_double), intent(out), contiguous :: a(:, :)
        integer(c_int) :: status
        status = fill(t, shape(a), a)
    end function
    function get_double_3(t, a) result(status)
        type(c_ptr), intent(in) :: t
        real(c_double), intent(out), contiguous :: a(:, :, :)
        integer(c_int) :: status
        status = fill(t, shape(a), a)
    end function
end module tp
