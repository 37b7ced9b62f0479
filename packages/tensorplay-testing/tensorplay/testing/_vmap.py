"""check_vmap: vmap against a Python loop over the samples."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tensorplay import Tensor

from ._close import assert_close, to_numpy, tolerance
from ._samples import Sample, func, stacked, strided, to_tensor

BATCH_SIZES = (0, 1, 3)


def check_vmap(
    fn: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    in_dims: Sequence[int | None] | None = None,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    out_dims: Sequence[int] = (0, -1),
    fixed: Sequence[int] = (),
    vary: Mapping[int, Callable[[np.ndarray, int], np.ndarray]] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    randomness: str = "error",
) -> bool:
    """Compares vmap(fn) with a loop over the samples; AssertionError where they differ, else True.

    Args:
        fn: takes the inputs as positional arguments and returns a Tensor or a sequence of Tensors.
        inputs: the arguments of one sample, a Tensor or a sequence; what is no Tensor is passed as it is. The other
            samples of a batch have the same elements in other places, floating ones a little smaller.
        in_dims: None tries every dimension of every Tensor, each Tensor alone and all of them together; or a tuple with
            one entry an input, tried as it is.
        batch_sizes: 0 compares shape and dtype.
        out_dims: where the mapped dimension of the outputs is asked for.
        fixed: positions among the Tensors that are never mapped over.
        vary: {position among the Tensors: function (array, i) -> array}, the i-th sample of a batch.
        rtol, atol: as in assert_close.

    Batches are made both contiguous and not.
    """
    __tracebackhide__ = True
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    one = Sample(
        tuple(x.detach().numpy() if isinstance(x, Tensor) else x for x in inputs),
        fixed=tuple(fixed),
        vary=dict(vary or {}),
    )
    if in_dims is not None:
        if len(in_dims) != len(inputs):
            raise ValueError(f"check_vmap: in_dims has {len(in_dims)} entries for {len(inputs)} inputs")
        in_dims = [tuple(d for d, x in zip(in_dims, inputs) if isinstance(x, Tensor))]
    return check_sample(
        fn,
        one,
        in_dims=in_dims,
        batch_sizes=batch_sizes,
        out_dims=out_dims,
        rtol=rtol,
        atol=atol,
        randomness=randomness,
    )


def every_in_dims(arrays, fixed):
    """Tuples of in_dims: every dimension of each array alone, then of all together."""
    free = [i for i in range(len(arrays)) if i not in fixed]
    for i in free:
        for d in range(arrays[i].ndim + 1):
            yield tuple(d if j == i else None for j in range(len(arrays)))
    if len(free) > 1:
        ranks = [arrays[i].ndim + 1 for i in free]
        for k in range(max(ranks)):
            # opposite ends, so that the dimensions of the operands do not happen to line up
            yield tuple(
                None if j in fixed else (k if n % 2 == 0 else arrays[j].ndim - k) % (arrays[j].ndim + 1)
                for n, j in enumerate(range(len(arrays)))
            )


def check_sample(
    op,
    sample,
    *,
    in_dims=None,
    batch_sizes=BATCH_SIZES,
    out_dims=(0, -1),
    rtol=None,
    atol=None,
    randomness="error",
    tensors=to_tensor,
):
    """check_vmap for a Sample's arguments. tensors: makes a tensor of an array."""
    __tracebackhide__ = True
    fn = sample.bind(op)
    arrays = sample.arrays()
    many = list(every_in_dims(arrays, sample.fixed)) if in_dims is None else in_dims
    for n, dims in enumerate(many):
        for size in batch_sizes:
            if size != max(batch_sizes) and n % 2 and len(many) > 3:
                continue  # the small sizes at every other in_dim
            out_dim = out_dims[n % len(out_dims)]
            compare(fn, sample, dims, size, out_dim, rtol, atol, randomness, tensors, contiguous=n % 2 == 0)
    return True


def compare(
    fn, sample, dims, size, out_dim=0, rtol=None, atol=None, randomness="error", tensors=to_tensor, contiguous=True
):
    """One vmap against its loop."""
    __tracebackhide__ = True
    f = func()
    arrays = sample.arrays()
    batch, each = [], []
    for i, (a, d) in enumerate(zip(arrays, dims)):
        if d is None:
            batch.append(tensors(a))
            each.append(itertools.repeat(batch[-1]))
            continue
        d = d % (a.ndim + 1)
        whole, parts = stacked(sample, i, a, size, d)
        batch.append(tensors(whole if contiguous else strided(whole, "transposed")))
        each.append([tensors(p) for p in parts])
    name = getattr(fn, "__name__", "fn")
    what = f"vmap({name}), in_dims {dims}, batch size {size}, out_dims {out_dim}, of {sample}"
    try:
        got = f.vmap(fn, tuple(dims), out_dim, randomness)(*batch)
    except Exception as error:
        raise AssertionError(f"{what}: raised {type(error).__name__}: {error}") from error
    if size == 0:
        one = fn(*(tensors(a) for a in arrays))
        for k, (g, o) in enumerate(zip(got, one)):
            shape = list(o.shape)
            shape.insert(out_dim if out_dim >= 0 else len(shape) + 1 + out_dim, 0)
            if list(g.shape) != shape or g.dtype != o.dtype:
                raise AssertionError(
                    f"{what}: output {k} is {g.dtype.name}{list(g.shape)}, expected {o.dtype.name}{shape}"
                )
        return
    loop = [fn(*parts) for parts in itertools.islice(zip(*each), size)]
    for k, g in enumerate(got):
        want = [outs[k] for outs in loop]
        if g.dtype != want[0].dtype:
            raise AssertionError(f"{what}: output {k} has dtype {g.dtype.name}, the loop gives {want[0].dtype.name}")
        default = tolerance(g.dtype.name)
        expected = np.stack([to_numpy(w) for w in want], axis=out_dim)
        assert_close(
            to_numpy(g),
            expected,
            rtol=default[0] if rtol is None else rtol,
            atol=default[1] if atol is None else atol,
            check_dtype=False,
            msg=f"{what}: output {k}",
        )
