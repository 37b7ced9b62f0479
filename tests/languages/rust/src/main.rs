//! Per-sample gradients, a Jacobian and a Hessian-vector product of a small network, with the crate libtp.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::ExitCode;

use libtp::{grad, hessian, jacfwd, jacrev, jvp, vjp, vmap, Error, Map, Result, Tensor};

// Results, row by row; written by reference.py.
const GRAD_W1: [f64; 60] = [
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
];
const GRAD_W2: [f64; 40] = [
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
];
const JACOBIAN_OF_Y: [f64; 6] = [
    5.951874168355872e-01, 1.262203398417136e-03, -2.043185810196277e-01, 7.897733135255915e-01,
    -7.370848065558429e-01, 3.803307439882025e-03
];
const HESSIAN_PRODUCT: [f64; 12] = [
    4.705622593577169e-01, 4.729192461693211e-01, -3.109610565149222e-01, 1.848251716332927e-01,
    -6.120153036396271e-01, 1.498910259183725e-02, -5.134865981783336e-01, 3.751641175970502e-01,
    2.032613792861967e-01, 4.266881139335933e-01, 1.861349686380251e+00, -7.129307581651316e-01
];
// end of the numbers

/// Value k is ((a k + b) mod 17 - 8) / 8.
fn input(a: i64, b: i64, shape: &[i64]) -> Result<Tensor> {
    let n: i64 = shape.iter().product();
    let values: Vec<f64> = (0..n).map(|k| ((a * k + b) % 17 - 8) as f64 / 8.0).collect();
    Tensor::from_slice(&values, shape)
}

fn agree(what: &str, t: &Tensor, expected: &[f64]) -> Result<bool> {
    let values = t.to_vec::<f64>()?;
    let near = |(v, e): (&f64, &f64)| (v - e).abs() <= 1e-12 * (1.0 + e.abs());
    let right = values.len() == expected.len() && values.iter().zip(expected).all(near);
    println!("{what}: {} values, {}", expected.len(), if right { "right" } else { "WRONG" });
    Ok(right)
}

fn run() -> Result<bool> {
    let (w1, b1) = (input(5, 3, &[4, 3])?, input(3, 11, &[4])?);
    let (w2, b2) = (input(7, 1, &[2, 4])?, input(9, 4, &[2])?);
    let (x, target, v) = (input(11, 6, &[5, 3])?, input(13, 2, &[5, 2])?, input(4, 9, &[4, 3])?);

    let network =
        |w1: &Tensor, w2: &Tensor, x: &Tensor| x.linear(w1, Some(&b1))?.tanh()?.linear(w2, Some(&b2));
    let loss = |[w1, w2, x, target]: &[Tensor; 4]| {
        0.5 * &(network(w1, w2, x)? - target)?.square()?.sum()?
    };

    let args = [w1.clone(), w2.clone(), x.clone(), target.clone()];
    let of_sample = grad(loss, [0, 1]);
    let [by_w1, by_w2] = vmap(&of_sample, Map::over([None, None, Some(0), Some(0)]))(&args)?;
    let first = [x.select(0, 0)?];
    let of_x = |[x]: &[Tensor; 1]| network(&w1, &w2, x);
    let [jacobian] = jacrev(of_x, [0])(&first)?;
    let by_first = grad(loss, [0]);
    let (_, [product]) = jvp(&by_first, &args, [Some(&v), None, None, None])?;

    let mut good = agree("per-sample gradients by W1", &by_w1, &GRAD_W1)?;
    good &= agree("per-sample gradients by W2", &by_w2, &GRAD_W2)?;
    good &= agree("Jacobian by x", &jacobian, &JACOBIAN_OF_Y)?;
    good &= agree("Hessian-vector product by W1", &product, &HESSIAN_PRODUCT)?;

    let [forward] = jacfwd(of_x, [0])(&first)?;
    good &= agree("the same Jacobian by forward mode", &forward, &JACOBIAN_OF_Y)?;
    let [[matrix]] = hessian(loss, [0])(&args)?;
    let again = (&matrix.reshape(&[12, 12])? * &v.reshape(&[12])?)?.sum_over(&[1], false)?;
    good &= agree("the same product from the Hessian", &again, &HESSIAN_PRODUCT)?;
    let row = Tensor::from_slice(&[1.0, 0.0], &[2])?;
    let (_, [by_x]) = vjp(of_x, &first, &row)?;
    good &= agree("the Jacobian's first row by vjp", &by_x, &JACOBIAN_OF_Y[..3])?;

    // Errors and panics of a function come out as they went in, through two levels.
    let failing = |_: &[Tensor; 1]| -> Result<Tensor> { Err(Error::new(Error::INDEX, "of my own")) };
    let error = vmap(grad(failing, [0]), Map::all())(&[b1.clone()]).unwrap_err();
    good &= error == Error::new(Error::INDEX, "of my own");
    let error = w1.matmul(&w1).unwrap_err();
    println!("as it should be: {error}");
    good &= error.code() != 0 && error.message().contains("matmul");
    std::panic::set_hook(Box::new(|_| ()));
    let panicking = |_: &[Tensor; 1]| -> Result<Tensor> { panic!("of my own") };
    let panic = catch_unwind(AssertUnwindSafe(|| vmap(grad(panicking, [0]), Map::all())(&[b1.clone()]).map(|_| ())));
    good &= matches!(panic, Err(p) if p.downcast_ref::<&str>() == Some(&"of my own"));

    // Handles go to other threads.
    let sum = std::thread::scope(|s| s.spawn(|| w1.sum().and_then(|t| t.item())).join()).expect("the thread")?;
    good &= (sum - w1.to_vec::<f64>()?.iter().sum::<f64>()).abs() < 1e-12;
    Ok(good)
}

fn main() -> ExitCode {
    let good = match run() {
        Ok(good) => good,
        Err(error) => {
            println!("{error}");
            false
        }
    };
    if good && libtp::abi_matches() && libtp::live_tensors() == 0 {
        ExitCode::SUCCESS
    } else {
        println!("{} tensors left", libtp::live_tensors());
        ExitCode::FAILURE
    }
}
