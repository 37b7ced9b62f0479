package tensorplay;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** A tensor: owns a reference, which {@link #close} gives back. */
public final class Tensor implements AutoCloseable {
    private static final int FLOAT64 = 12;
    private static final int DTYPE_NONE = -1;
    private static final long SCALAR_INT = 2;

    private MemorySegment handle;

    Tensor(MemorySegment handle) {
        this.handle = handle;
    }

    static Tensor share(MemorySegment handle) {
        Tp.call(null, "tp_retain", handle);
        return new Tensor(handle);
    }

    /** The handle, for {@link Tp#call}; it stays owned by this object. */
    public MemorySegment handle() {
        if (handle == null) {
            throw new IllegalStateException("the tensor is closed");
        }
        return handle;
    }

    /** The handle with its reference. */
    MemorySegment take() {
        MemorySegment taken = handle();
        handle = null;
        return taken;
    }

    /** Another reference to the same tensor. */
    public Tensor share() {
        return share(handle());
    }

    @Override
    public void close() {
        if (handle != null) {
            Tp.call(null, "tp_release", take());
        }
    }

    /** A copy of values in C order. */
    public static Tensor of(double[] values, long... shape) {
        long n = Arrays.stream(shape).reduce(1, Math::multiplyExact);
        if (n != values.length) {
            throw new IllegalArgumentException(values.length + " values for shape " + Arrays.toString(shape));
        }
        try (Arena arena = Arena.ofConfined()) {
            return Tp.tensor("tp_from_data", arena.allocateFrom(Tp.DOUBLE, values), FLOAT64, shape.length,
                arena.allocateFrom(Tp.LONG, shape));
        }
    }

    /** The sizes; under vmap those of one sample. */
    public long[] shape() {
        int n = (int) Tp.call(Tp.INT, "tp_ndim", this);
        MemorySegment sizes = (MemorySegment) Tp.call(Tp.POINTER, "tp_shape", this);
        return n == 0 ? new long[0] : sizes.reinterpret(n * 8L).toArray(Tp.LONG);
    }

    /** A copy of the elements in C order, as doubles. */
    public double[] values() {
        try (Tensor doubles = Tp.tensor("tp_cast", this, FLOAT64); Tensor plain = Tp.tensor("tp_contiguous", doubles)) {
            long n = (long) Tp.call(Tp.LONG, "tp_numel", plain);
            MemorySegment data = (MemorySegment) Tp.call(Tp.POINTER, "tp_data", plain);
            if (n != 0 && data.address() == 0) {
                throw Tp.lastError();
            }
            return n == 0 ? new double[0] : data.reinterpret(n * 8).toArray(Tp.DOUBLE);
        }
    }

    private static MemorySegment one(Arena arena) {
        return arena.allocateFrom(Tp.LONG, SCALAR_INT, 1, 0); // tag, reserved, value
    }

    public Tensor add(Tensor other) {
        try (Arena arena = Arena.ofConfined()) {
            return Tp.tensor("tp_add", this, other, one(arena));
        }
    }

    public Tensor sub(Tensor other) {
        try (Arena arena = Arena.ofConfined()) {
            return Tp.tensor("tp_sub", this, other, one(arena));
        }
    }

    public Tensor mul(Tensor other) {
        return Tp.tensor("tp_mul", this, other);
    }

    public Tensor mul(double other) {
        return Tp.tensor("tp_mul_f", this, other);
    }

    public Tensor matmul(Tensor other) {
        return Tp.tensor("tp_matmul", this, other);
    }

    /** y = x W' + b. */
    public Tensor linear(Tensor weight, Tensor bias) {
        return Tp.tensor("tp_linear", this, weight, bias == null ? MemorySegment.NULL : bias.handle());
    }

    public Tensor tanh() {
        return Tp.tensor("tp_tanh", this);
    }

    public Tensor square() {
        return Tp.tensor("tp_square", this);
    }

    /** The sum of all elements. */
    public Tensor sum() {
        return Tp.tensor("tp_sum", this, MemorySegment.NULL, -1L, false, DTYPE_NONE);
    }

    /** One index of a dimension. */
    public Tensor select(long dim, long index) {
        return Tp.tensor("tp_select", this, dim, index);
    }
}
