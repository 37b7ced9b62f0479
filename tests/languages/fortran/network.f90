! Per-sample gradients, a Jacobian and a Hessian-vector product of a small network, with the modules tp and tp_ops.
module network_functions
    use, intrinsic :: iso_c_binding
    use tp
    use tp_ops
    implicit none
    integer, parameter :: w1 = 1, b1 = 2, w2 = 3, b2 = 4, x = 5, target = 6, n_args = 6

    ! Results, row by row; written by reference.py.
    real(c_double), parameter :: grad_w1(60) = [ &
        -4.652265312778513d-02, -1.860906125111405d-01, 6.978397969167770d-02, -3.351064423391725d-02, &
        -1.340425769356690d-01, 5.026596635087588d-02, 1.263589893865502d-01, 5.054359575462007d-01, &
        -1.895384840798253d-01, 1.157118894902956d-01, 4.628475579611826d-01, -1.735678342354435d-01, &
        -3.109509621522984d-01, 8.292025657394624d-01, 2.073006414348656d-01, -6.974451526111214d-02, &
        1.859853740296324d-01, 4.649634350740810d-02, 6.241954564321695d-02, -1.664521217152452d-01, &
        -4.161303042881130d-02, -9.343962210192364d-03, 2.491723256051297d-02, 6.229308140128243d-03, &
        8.321349457425940d-03, -1.456236155049540d-02, -2.080337364356485d-03, -2.584006472898727d-01, &
        4.522011327572771d-01, 6.460016182246817d-02, 4.194466952087438d-02, -7.340317166153015d-02, &
        -1.048616738021859d-02, 8.778086226467965d-02, -1.536165089631894d-01, -2.194521556616991d-02, &
        -5.293770024543037d-01, 6.352524029451645d-01, 0.000000000000000d+00, -1.170829693297705d-01, &
        1.404995631957247d-01, 0.000000000000000d+00, 8.343918637452818d-02, -1.001270236494338d-01, &
        0.000000000000000d+00, -5.604594260436146d-03, 6.725513112523375d-03, 0.000000000000000d+00, &
        -4.680852217012908d-01, 3.900710180844090d-01, -7.801420361688180d-02, 4.651609645071703d-02, &
        -3.876341370893086d-02, 7.752682741786172d-03, 4.086433099479349d-02, -3.405360916232791d-02, &
        6.810721832465581d-03, -7.032590289862962d-02, 5.860491908219135d-02, -1.172098381643827d-02]
    real(c_double), parameter :: grad_w2(40) = [ &
        -5.177787289730928d-01, -7.040935703730897d-01, 4.872198595940190d-01, 8.753755307664531d-02, &
        -4.959980971709931d-01, -6.744755077675880d-01, 4.667247025420198d-01, 8.385524033235668d-02, &
        -1.237789458720195d+00, -1.396081560803186d+00, 1.827076180341982d+00, 1.793795008363079d+00, &
        -3.386984592950598d-01, -3.820121995409322d-01, 4.999459988424571d-01, 4.908392144912289d-01, &
        -5.978018762258378d-01, -7.125609818068049d-01, 8.888210323988009d-01, 8.644476590218935d-01, &
        -1.082831195425622d+00, -1.290700632481837d+00, 1.609970090940694d+00, 1.565821268262356d+00, &
        -1.326590383493116d+00, -1.654879242969401d+00, 1.984656830413449d+00, 1.914007389023044d+00, &
        -4.548702481071772d-01, -5.674361439699186d-01, 6.805125049080037d-01, 6.562877484694206d-01, &
        -6.856204377907695d-01, -8.880226038131317d-01, 1.031179513120389d+00, 9.869265540439180d-01, &
        1.756133059291854d-01, 2.274561500791463d-01, -2.641240449147493d-01, -2.527891896330000d-01]
    real(c_double), parameter :: jacobian_of_y(6) = [ &
        5.951874168355872d-01, 1.262203398417136d-03, -2.043185810196277d-01, 7.897733135255915d-01, &
        -7.370848065558429d-01, 3.803307439882025d-03]
    real(c_double), parameter :: hessian_product(12) = [ &
        4.705622593577169d-01, 4.729192461693211d-01, -3.109610565149222d-01, 1.848251716332927d-01, &
        -6.120153036396271d-01, 1.498910259183725d-02, -5.134865981783336d-01, 3.751641175970502d-01, &
        2.032613792861967d-01, 4.266881139335933d-01, 1.861349686380251d+00, -7.129307581651316d-01]
    ! end of the numbers

contains

    ! y = W2 tanh(W1 x + b1) + b2. Calls are checked once, at the end: null in, null out.
    function network(args) result(y)
        type(c_ptr), intent(in) :: args(:)
        type(c_ptr) :: y, z, h
        z = tp_linear(args(x), args(w1), args(b1))
        h = tp_tanh(z)
        y = tp_linear(h, args(w2), args(b2))
        call tp_release(z)
        call tp_release(h)
    end function

    function network_call(payload, args, n, results, n_results) result(status) bind(c)
        type(c_ptr), value :: payload
        integer(c_int64_t), value :: n, n_results
        type(c_ptr), intent(in) :: args(n)
        type(c_ptr), intent(inout) :: results(n_results)
        integer(c_int) :: status
        results(1) = network(args)
        status = merge(TP_OK, tp_error_code(), c_associated(results(1)))
    end function

    ! Half the squared distance of y from the target.
    function loss_call(payload, args, n, results, n_results) result(status) bind(c)
        type(c_ptr), value :: payload
        integer(c_int64_t), value :: n, n_results
        type(c_ptr), intent(in) :: args(n)
        type(c_ptr), intent(inout) :: results(n_results)
        integer(c_int) :: status
        type(c_ptr) :: y, error, squares, total
        y = network(args)
        error = tp_sub(y, args(target), tp_number(1_c_int64_t))
        squares = tp_square(error)
        total = tp_sum(squares, n_dim=-1_c_int64_t, keepdim=.false._c_bool, dtype=TP_DTYPE_NONE)
        results(1) = tp_mul_f(total, 0.5_c_double)
        call tp_release(y)
        call tp_release(error)
        call tp_release(squares)
        call tp_release(total)
        status = merge(TP_OK, tp_error_code(), c_associated(results(1)))
    end function

    ! Gradients of the loss by W1 and W2, or by W1 alone.
    function grad_call(payload, args, n, results, n_results) result(status) bind(c)
        type(c_ptr), value :: payload
        integer(c_int64_t), value :: n, n_results
        type(c_ptr), intent(in) :: args(n)
        type(c_ptr), intent(inout) :: results(n_results)
        integer(c_int) :: status
        integer(c_int64_t) :: by(2)
        by = [w1, w2] - 1
        status = tp_grad(tp_make_function(c_funloc(loss_call)), args, n, by, n_results, grads=results)
    end function

    ! Value k, row by row, is ((a k + b) mod 17 - 8) / 8.
    function values(a, b, rows, columns) result(v)
        integer, intent(in) :: a, b, rows, columns
        real(c_double) :: v(rows, columns)
        integer :: k
        v = transpose(reshape([(real(mod(a * k + b, 17) - 8, c_double) / 8, k = 0, rows * columns - 1)], &
            [columns, rows]))
    end function

    subroutine compare(what, near, bad)
        character(*), intent(in) :: what
        logical, intent(in) :: near
        integer, intent(inout) :: bad
        if (.not. near) bad = bad + 1
        print '(a, a, a)', what, ': ', merge('right', 'WRONG', near)
    end subroutine
end module network_functions

program main
    use network_functions
    implicit none
    type(c_ptr) :: args(n_args), sample(n_args), tangents(n_args), grads(2), jacobian(1), gradient(1), product(1)
    type(c_ptr) :: hessian(1), applied, cotangents(n_args)
    real(c_double) :: got_w1(5, 4, 3), got_w2(5, 2, 4), got_jacobian(2, 3), got_product(4, 3), row(4)
    integer(c_int) :: status, dims(n_args)
    integer :: bad, k
    type(tp_function) :: network_f, grad_f, loss_f
    bad = 0
    if (tp_abi_version() /= TP_ABI) error stop 'another ABI than the module''s'

    network_f = tp_make_function(c_funloc(network_call))
    loss_f = tp_make_function(c_funloc(loss_call))
    grad_f = tp_make_function(c_funloc(grad_call))
    args(w1) = tp_from(values(5, 3, 4, 3))
    row = pack(values(3, 11, 1, 4), .true.)
    args(b1) = tp_from(row)
    args(w2) = tp_from(values(7, 1, 2, 4))
    row(:2) = pack(values(9, 4, 1, 2), .true.)
    args(b2) = tp_from(row(:2))
    args(x) = tp_from(values(11, 6, 5, 3))
    args(target) = tp_from(values(13, 2, 5, 2))

    ! Of every sample at once: vmap over grad.
    grads = c_null_ptr
    dims = [TP_DIM_NONE, TP_DIM_NONE, TP_DIM_NONE, TP_DIM_NONE, 0_c_int, 0_c_int]
    status = tp_vmap(grad_f, args, int(n_args, c_int64_t), tp_map_over(dims), grads, 2_c_int64_t)
    if (status /= TP_OK) print *, tp_message()
    status = tp_get(grads(1), got_w1)
    call compare('per-sample gradients by W1', status == TP_OK .and. all(abs(got_w1 - &
        reshape(grad_w1, [5, 4, 3], order=[3, 2, 1])) < 1d-12), bad)
    status = tp_get(grads(2), got_w2)
    call compare('per-sample gradients by W2', status == TP_OK .and. all(abs(got_w2 - &
        reshape(grad_w2, [5, 2, 4], order=[3, 2, 1])) < 1d-12), bad)

    ! Of the first sample's y by x.
    sample = args
    sample(x) = tp_select(args(x), 0_c_int64_t, 0_c_int64_t)
    jacobian = c_null_ptr
    status = tp_jacrev(network_f, sample, int(n_args, c_int64_t), [x - 1_c_int64_t], 1_c_int64_t, n_results=1_c_int64_t, &
        jacobians=jacobian)
    if (status /= TP_OK) print *, tp_message()
    status = tp_get(jacobian(1), got_jacobian)
    call compare('Jacobian by x', status == TP_OK .and. all(abs(got_jacobian - &
        reshape(jacobian_of_y, [2, 3], order=[2, 1])) < 1d-12), bad)

    ! Of the summed loss by W1: forward mode over reverse mode.
    tangents = c_null_ptr
    tangents(w1) = tp_from(values(4, 9, 4, 3))
    gradient = c_null_ptr
    product = c_null_ptr
    status = tp_jvp(grad_f, args, tangents, int(n_args, c_int64_t), gradient, product, 1_c_int64_t)
    if (status /= TP_OK) print *, tp_message()
    status = tp_get(product(1), got_product)
    call compare('Hessian-vector product by W1', status == TP_OK .and. all(abs(got_product - &
        reshape(hessian_product, [4, 3], order=[2, 1])) < 1d-12), bad)

    ! The same by other ways: forward mode, the whole Hessian, a vjp of the loss with the cotangent one.
    call tp_release(jacobian(1))
    jacobian = c_null_ptr
    status = tp_jacfwd(network_f, sample, int(n_args, c_int64_t), [x - 1_c_int64_t], 1_c_int64_t, n_results=1_c_int64_t, &
        jacobians=jacobian)
    if (status /= TP_OK) print *, tp_message()
    status = tp_get(jacobian(1), got_jacobian)
    call compare('the Jacobian by forward mode', status == TP_OK .and. all(abs(got_jacobian - &
        reshape(jacobian_of_y, [2, 3], order=[2, 1])) < 1d-12), bad)
    hessian = c_null_ptr
    status = tp_hessian(loss_f, args, int(n_args, c_int64_t), [w1 - 1_c_int64_t], 1_c_int64_t, hessian)
    if (status /= TP_OK) print *, tp_message()
    applied = tp_tensordot(hessian(1), tangents(w1), 2_c_int64_t)
    status = tp_get(applied, got_product)
    call compare('the product by the whole Hessian', status == TP_OK .and. all(abs(got_product - &
        reshape(hessian_product, [4, 3], order=[2, 1])) < 1d-12), bad)
    cotangents = c_null_ptr
    status = tp_vjp(loss_f, args, int(n_args, c_int64_t), n_results=1_c_int64_t, grads=cotangents)
    if (status /= TP_OK) print *, tp_message()
    status = tp_get(cotangents(w1), got_product)
    call compare('the gradient of all samples by vjp', status == TP_OK .and. all(abs(got_product - &
        sum(got_w1, dim=1)) < 1d-12), bad)

    ! A failure is a null pointer and a message.
    if (c_associated(tp_matmul(args(w1), args(w1)))) bad = bad + 1
    print '(a, a)', 'as it should be: ', tp_message()

    call tp_release(sample(x))
    do k = 1, n_args
        call tp_release(args(k))
        call tp_release(tangents(k))
        call tp_release(cotangents(k))
    end do
    call tp_release(grads(1))
    call tp_release(grads(2))
    call tp_release(jacobian(1))
    call tp_release(gradient(1))
    call tp_release(product(1))
    call tp_release(hessian(1))
    call tp_release(applied)
    if (tp_live_tensors() /= 0) bad = bad + 1
    if (bad /= 0) error stop
end program main
