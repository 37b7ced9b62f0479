import java.util.Arrays;
import tensorplay.Tensor;
import tensorplay.Tp;

/** Per-sample gradients, a Jacobian and a Hessian-vector product of a small network, through the foreign-function API. */
public final class Network {
    // Results, row by row; written by reference.py.
    static final double[] GRAD_W1 = {
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
    };
    static final double[] GRAD_W2 = {
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
    };
    static final double[] JACOBIAN_OF_Y = {
        5.951874168355872e-01, 1.262203398417136e-03, -2.043185810196277e-01, 7.897733135255915e-01,
        -7.370848065558429e-01, 3.803307439882025e-03
    };
    static final double[] HESSIAN_PRODUCT = {
        4.705622593577169e-01, 4.729192461693211e-01, -3.109610565149222e-01, 1.848251716332927e-01,
        -6.120153036396271e-01, 1.498910259183725e-02, -5.134865981783336e-01, 3.751641175970502e-01,
        2.032613792861967e-01, 4.266881139335933e-01, 1.861349686380251e+00, -7.129307581651316e-01
    };
    // end of the numbers

    private static boolean good = true;

    /** Value k is ((a k + b) mod 17 - 8) / 8. */
    private static Tensor input(int a, int b, long... shape) {
        double[] values = new double[(int) Arrays.stream(shape).reduce(1, Math::multiplyExact)];
        for (int k = 0; k < values.length; k++) {
            values[k] = ((a * k + b) % 17 - 8) / 8.0;
        }
        return Tensor.of(values, shape);
    }

    private static void agree(String what, Tensor t, double[] expected) {
        double[] values = t.values();
        boolean near = values.length == expected.length;
        for (int k = 0; near && k < values.length; k++) {
            near = Math.abs(values[k] - expected[k]) <= 1e-12 * (1 + Math.abs(expected[k]));
        }
        good &= near;
        System.out.println(what + ": " + expected.length + " values, " + (near ? "right" : "WRONG"));
    }

    private static void expect(boolean holds, String what) {
        if (!holds) {
            good = false;
            System.out.println("WRONG: " + what);
        }
    }

    /** y = W2 tanh(W1 x + b1) + b2 of the arguments w1, b1, w2, b2, x, target. */
    private static Tensor network(Tensor... p) {
        try (Tensor z = p[4].linear(p[0], p[1]); Tensor h = z.tanh()) {
            return h.linear(p[2], p[3]);
        }
    }

    /** Half the squared distance of y from the target. */
    private static Tensor loss(Tensor... p) {
        try (Tensor y = network(p); Tensor error = y.sub(p[5]); Tensor squares = error.square();
                Tensor sum = squares.sum()) {
            return sum.mul(0.5);
        }
    }

    private static void closeAll(Tensor... tensors) {
        for (Tensor t : tensors) {
            t.close();
        }
    }

    private static void run() {
        Tp.Function network = p -> new Tensor[] {network(p)};
        Tp.Function loss = p -> new Tensor[] {loss(p)};
        Tensor[] args = {input(5, 3, 4, 3), input(3, 11, 4), input(7, 1, 2, 4), input(9, 4, 2), input(11, 6, 5, 3),
            input(13, 2, 5, 2)};
        Tensor v = input(4, 9, 4, 3);

        int no = Tp.NOT_MAPPED;
        Tensor[] grads = Tp.vmap(Tp.grad(loss, 0, 2), 2, no, no, no, no, 0, 0).apply(args);
        agree("per-sample gradients by W1", grads[0], GRAD_W1);
        agree("per-sample gradients by W2", grads[1], GRAD_W2);

        Tensor[] sample = args.clone();
        sample[4] = args[4].select(0, 0);
        Tensor[] jacobian = Tp.jacrev(network, 4).apply(sample);
        agree("Jacobian by x", jacobian[0], JACOBIAN_OF_Y);
        Tensor[] forward = Tp.jacfwd(network, 4).apply(sample);
        agree("the same by forward mode", forward[0], JACOBIAN_OF_Y);

        Tensor[] along = {v, null, null, null, null, null};
        Tensor[] product = Tp.jvp(Tp.grad(loss, 0), args, along, 1);
        agree("Hessian-vector product by W1", product[1], HESSIAN_PRODUCT);

        Tensor one = Tensor.of(new double[] {1}); // without dimensions, like the loss
        Tensor[] cotangents = Tp.vjp(loss, args, new Tensor[] {one});
        double[] sums = new double[12];
        for (int k = 0; k < GRAD_W1.length; k++) {
            sums[k % 12] += GRAD_W1[k];
        }
        agree("the gradient of all samples by vjp", cotangents[1], sums);
        Tensor[] hessian = Tp.hessian(loss, 0).apply(args);
        try (Tensor applied = Tp.tensor("tp_tensordot", hessian[0], v, 2L)) {
            agree("the product by the whole Hessian", applied, HESSIAN_PRODUCT);
        }
        closeAll(cotangents);
        closeAll(hessian);
        one.close();

        // What a function throws comes out as it went in, through two levels.
        IllegalStateException own = new IllegalStateException("of my own");
        try {
            Tp.vmap(Tp.grad(p -> {
                throw own;
            }, 0), 1, 0).apply(args[0]);
            expect(false, "an exception was lost");
        } catch (IllegalStateException e) {
            expect(e == own, "another exception than was thrown");
        }
        try {
            args[0].matmul(args[0]).close();
            expect(false, "shapes that do not fit");
        } catch (Tp.TpException e) {
            System.out.println("as it should be: " + e.getMessage());
        }
        closeAll(args);
        closeAll(grads);
        closeAll(jacobian);
        closeAll(forward);
        closeAll(product);
        closeAll(v, sample[4]);
    }

    public static void main(String[] arguments) {
        expect(Tp.abiMatches(), "another ABI");
        run();
        expect(Tp.liveTensors() == 0, Tp.liveTensors() + " tensors left");
        System.exit(good ? 0 : 1);
    }
}
