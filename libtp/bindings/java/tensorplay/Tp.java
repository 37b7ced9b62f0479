package tensorplay;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * libtp through the foreign-function API: the library, its errors, and transforms of functions of tensors.
 *
 * <p>The library is looked for where the property {@code tensorplay.library} says, else by the system's loader as
 * {@code libtp.so.0}. Every C function can be called by name with {@link #call}; those that a program needs most are
 * methods of {@link Tensor}.
 */
public final class Tp {
    /** A vmap dimension that says: not mapped. */
    public static final int NOT_MAPPED = Integer.MIN_VALUE;

    static final AddressLayout POINTER = ValueLayout.ADDRESS;
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE;
    static final ValueLayout.OfBoolean BOOL = ValueLayout.JAVA_BOOLEAN;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBRARY = open();
    private static final Map<String, MethodHandle> HANDLES = new ConcurrentHashMap<>();
    private static final MethodHandle UPCALL = upcall();
    private static final FunctionDescriptor CALLBACK = FunctionDescriptor.of(INT, POINTER, POINTER, LONG, POINTER, LONG);

    private Tp() {}

    /** A failed call: the code of tp/error.h and its message. */
    public static final class TpException extends RuntimeException {
        private final int code;

        TpException(int code, String message) {
            super(message);
            this.code = code;
        }

        /** The code of tp/error.h. */
        public int code() {
            return code;
        }
    }

    /** A function of tensors. Arguments are borrowed; results become the library's. */
    @FunctionalInterface
    public interface Function {
        Tensor[] apply(Tensor... args);
    }

    private static SymbolLookup open() {
        String place = System.getProperty("tensorplay.library");
        return place != null ? SymbolLookup.libraryLookup(Path.of(place), Arena.global())
                             : SymbolLookup.libraryLookup("libtp.so.0", Arena.global());
    }

    private static MethodHandle upcall() {
        try {
            return MethodHandles.lookup().findVirtual(Callback.class, "run", MethodType.methodType(int.class,
                MemorySegment.class, MemorySegment.class, long.class, MemorySegment.class, long.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static MemoryLayout layout(Object argument) {
        return switch (argument) {
            case MemorySegment s -> POINTER;
            case Tensor t -> POINTER;
            case Integer i -> INT;
            case Long l -> LONG;
            case Double d -> DOUBLE;
            case Boolean b -> BOOL;
            default -> throw new IllegalArgumentException("libtp takes no " + argument.getClass());
        };
    }

    /** Calls a C function by name. Arguments are tensors, segments (pointers), Integer, Long, Double and Boolean. */
    public static Object call(MemoryLayout result, String name, Object... args) {
        MemoryLayout[] layouts = new MemoryLayout[args.length];
        Object[] values = new Object[args.length];
        for (int k = 0; k < args.length; k++) {
            layouts[k] = layout(args[k]);
            values[k] = args[k] instanceof Tensor t ? t.handle() : args[k];
        }
        MethodHandle handle = HANDLES.computeIfAbsent(name, n -> {
            MemorySegment address = LIBRARY.find(n).orElseThrow(() -> new UnsatisfiedLinkError("libtp has no " + n));
            FunctionDescriptor type = result == null ? FunctionDescriptor.ofVoid(layouts)
                                                     : FunctionDescriptor.of(result, layouts);
            return LINKER.downcallHandle(address, type).asSpreader(Object[].class, args.length);
        });
        try {
            return handle.invoke(values);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** A call that returns a tensor. */
    public static Tensor tensor(String name, Object... args) {
        MemorySegment t = (MemorySegment) call(POINTER, name, args);
        if (t.address() == 0) {
            throw lastError();
        }
        return new Tensor(t);
    }

    static TpException lastError() {
        MemorySegment text = (MemorySegment) call(POINTER, "tp_error_message");
        return new TpException((int) call(INT, "tp_error_code"), text.reinterpret(1024).getString(0));
    }

    /** Whether the loaded library has the ABI that these classes were written for. */
    public static boolean abiMatches() {
        return (int) call(INT, "tp_abi_version") == 0;
    }

    /** How many tensors are alive, for tests of leaks. */
    public static long liveTensors() {
        return (long) call(LONG, "tp_live_tensors");
    }

    /** A function as a callback of C, for the time of one call; what it throws is kept for the caller. */
    private static final class Callback {
        private final Function function;
        private RuntimeException thrown;
        private Error error;

        Callback(Function function) {
            this.function = function;
        }

        int run(MemorySegment payload, MemorySegment args, long count, MemorySegment results, long wanted) {
            try {
                Tensor[] borrowed = new Tensor[(int) count];
                MemorySegment list = args.reinterpret(count * POINTER.byteSize());
                for (int k = 0; k < count; k++) {
                    borrowed[k] = Tensor.share(list.getAtIndex(POINTER, k));
                }
                Tensor[] made;
                try {
                    made = function.apply(borrowed);
                } finally {
                    for (Tensor t : borrowed) {
                        t.close();
                    }
                }
                if (made.length != wanted) {
                    throw new IllegalArgumentException(made.length + " results, " + wanted + " were announced");
                }
                MemorySegment out = results.reinterpret(wanted * POINTER.byteSize());
                for (int k = 0; k < wanted; k++) {
                    out.setAtIndex(POINTER, k, made[k].take());
                }
                return 0;
            } catch (RuntimeException e) {
                thrown = e;
                return fail(e);
            } catch (Error e) {
                error = e;
                return fail(e);
            }
        }

        private static int fail(Throwable e) {
            int code = e instanceof TpException own && own.code() != 0 ? own.code() : 7;
            try (Arena arena = Arena.ofConfined()) {
                return (int) call(INT, "tp_error_set", code, arena.allocateFrom(String.valueOf(e.getMessage())));
            }
        }

        void check(int status) {
            if (status == 0) {
                return;
            }
            if (error != null) {
                throw error;
            }
            throw thrown != null ? thrown : lastError();
        }
    }

    /** What a transform has to know of a call: the struct tp_function, and arrays for arguments and results. */
    private static final class Call implements AutoCloseable {
        final Arena arena = Arena.ofConfined();
        final Callback callback;
        final MemorySegment function;
        final MemorySegment args;
        final long count;

        Call(Function f, Tensor[] tensors) {
            callback = new Callback(f);
            MemorySegment stub = LINKER.upcallStub(UPCALL.bindTo(callback), CALLBACK, arena);
            function = arena.allocate(4 * 8, 8); // size_t, three pointers
            function.setAtIndex(LONG, 0, 4 * 8);
            function.setAtIndex(POINTER, 1, stub);
            function.setAtIndex(POINTER, 2, MemorySegment.NULL);
            function.setAtIndex(POINTER, 3, MemorySegment.NULL);
            args = pointers(tensors);
            count = tensors.length;
        }

        MemorySegment pointers(Tensor[] tensors) {
            MemorySegment list = slots(tensors.length);
            for (int k = 0; k < tensors.length; k++) {
                list.setAtIndex(POINTER, k, tensors[k] == null ? MemorySegment.NULL : tensors[k].handle());
            }
            return list;
        }

        MemorySegment slots(long n) {
            return arena.allocate(POINTER, Math.max(n, 1)); // zeroed
        }

        MemorySegment longs(long[] values) {
            return arena.allocateFrom(LONG, values);
        }

        /** The references that a call which succeeded has left in an array. */
        Tensor[] results(MemorySegment list, int n) {
            Tensor[] tensors = new Tensor[n];
            for (int k = 0; k < n; k++) {
                tensors[k] = new Tensor(list.getAtIndex(POINTER, k));
            }
            return tensors;
        }

        @Override
        public void close() {
            arena.close();
        }
    }

    /** The function of all samples at once; dims: one of each argument, or NOT_MAPPED. */
    public static Function vmap(Function f, int results, int... dims) {
        return args -> {
            try (Call c = new Call(f, args)) {
                // size_t, two pointers, int with padding, two int64_t
                MemorySegment options = c.arena.allocate(6 * 8, 8);
                options.setAtIndex(LONG, 0, 6 * 8);
                options.setAtIndex(POINTER, 1, c.arena.allocateFrom(INT, dims));
                MemorySegment out = c.slots(results);
                c.callback.check((int) call(INT, "tp_vmap", c.function, c.args, c.count, options, out, (long) results));
                return c.results(out, results);
            }
        };
    }

    /** Gradients, by the arguments of these numbers, of a function that returns one number. */
    public static Function grad(Function f, long... argnums) {
        return args -> {
            try (Call c = new Call(f, args)) {
                MemorySegment out = c.slots(argnums.length);
                c.callback.check((int) call(INT, "tp_grad", c.function, c.args, c.count, c.longs(argnums),
                    (long) argnums.length, MemorySegment.NULL, out));
                return c.results(out, argnums.length);
            }
        };
    }

    /** Results, then their tangents, for tangents of the arguments; null is zero. */
    public static Tensor[] jvp(Function f, Tensor[] args, Tensor[] tangents, int results) {
        try (Call c = new Call(f, args)) {
            MemorySegment out = c.slots(results);
            MemorySegment moved = c.slots(results);
            c.callback.check((int) call(INT, "tp_jvp", c.function, c.args, c.pointers(tangents), c.count, out, moved,
                (long) results));
            Tensor[] both = new Tensor[2 * results];
            System.arraycopy(c.results(out, results), 0, both, 0, results);
            System.arraycopy(c.results(moved, results), 0, both, results, results);
            return both;
        }
    }

    /** Results, then cotangents of all arguments, for cotangents of the results. */
    public static Tensor[] vjp(Function f, Tensor[] args, Tensor[] cotangents) {
        int results = cotangents.length;
        try (Call c = new Call(f, args)) {
            MemorySegment out = c.slots(results);
            MemorySegment grads = c.slots(args.length);
            c.callback.check((int) call(INT, "tp_vjp", c.function, c.args, c.count, c.pointers(cotangents), out,
                (long) results, grads));
            Tensor[] both = new Tensor[results + args.length];
            System.arraycopy(c.results(out, results), 0, both, 0, results);
            System.arraycopy(c.results(grads, args.length), 0, both, results, args.length);
            return both;
        }
    }

    private static Function jacobian(String name, Function f, long[] argnums) {
        return args -> {
            try (Call c = new Call(f, args)) {
                MemorySegment out = c.slots(argnums.length);
                c.callback.check((int) call(INT, name, c.function, c.args, c.count, c.longs(argnums),
                    (long) argnums.length, MemorySegment.NULL, 1L, out));
                return c.results(out, argnums.length);
            }
        };
    }

    /** Jacobians of one result by reverse mode, of shape (result's shape) + (argument's shape). */
    public static Function jacrev(Function f, long... argnums) {
        return jacobian("tp_jacrev", f, argnums);
    }

    /** Jacobians of one result by forward mode. */
    public static Function jacfwd(Function f, long... argnums) {
        return jacobian("tp_jacfwd", f, argnums);
    }

    /** Second derivatives of a function that returns one number, row by row of the arguments of these numbers. */
    public static Function hessian(Function f, long... argnums) {
        return args -> {
            int n = argnums.length * argnums.length;
            try (Call c = new Call(f, args)) {
                MemorySegment out = c.slots(n);
                c.callback.check((int) call(INT, "tp_hessian", c.function, c.args, c.count, c.longs(argnums),
                    (long) argnums.length, out));
                return c.results(out, n);
            }
        };
    }
}
