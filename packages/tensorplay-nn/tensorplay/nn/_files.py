"""States in safetensors files: the length of a JSON header, the header, and the values one after the other.

The library of that name reads and writes the same files, but its numpy interface has no bfloat16.
"""

import json
import math
import pathlib

import numpy as np

import tensorplay as tp

from ._module import Module

_NAMES = {
    "BOOL": tp.bool, "U8": tp.uint8, "U16": tp.uint16, "U32": tp.uint32, "U64": tp.uint64, "I8": tp.int8,
    "I16": tp.int16, "I32": tp.int32, "I64": tp.int64, "F16": tp.float16, "BF16": tp.bfloat16, "F32": tp.float32,
    "F64": tp.float64,
}  # fmt: skip


def save_file(state, filename, metadata=None):
    """Writes a module's state_dict, or {name: Tensor}, to a safetensors file.

    metadata: {str: str} that the file carries. Shared parameters are written under each of their names.

    Raises:
        TypeError: a value is not a Tensor, or complex.
    """
    state = state.state_dict() if isinstance(state, Module) else state
    known = {d: n for n, d in _NAMES.items()}
    header, parts, at = {}, [], 0
    if metadata is not None:
        header["__metadata__"] = {str(k): str(v) for k, v in metadata.items()}
    for name, t in state.items():
        if not isinstance(t, tp.Tensor):
            raise TypeError(f"save_file: {name!r} is of type {type(t).__name__}, not a Tensor")
        if t.dtype not in known:
            raise TypeError(f"save_file: {name!r} is {t.dtype}, which the format has not")
        t = t.detach().contiguous()
        values = (t.view(tp.int16) if t.dtype == tp.bfloat16 else t).numpy()
        parts.append(np.ascontiguousarray(values).tobytes())
        end = at + len(parts[-1])
        header[name] = {"dtype": known[t.dtype], "shape": list(t.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(filename).write_bytes(b"".join([len(text).to_bytes(8, "little"), text, *parts]))


def load_file(filename):
    """{name: Tensor} from a safetensors file: what load_state_dict takes.

    Raises:
        ValueError: it is not a safetensors file. TypeError: a dtype that this library has not.
    """
    raw = pathlib.Path(filename).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    if len(raw) < 8 or size > len(raw) - 8:
        raise ValueError(f"load_file: {filename} is not a safetensors file")
    try:
        header = json.loads(raw[8 : 8 + size])
    except ValueError:
        raise ValueError(f"load_file: {filename} is not a safetensors file") from None
    body, out = raw[8 + size :], {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        if entry["dtype"] not in _NAMES:
            raise TypeError(f"load_file: {name!r} has the dtype {entry['dtype']}")
        dtype, shape, (begin, end) = _NAMES[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
        kind = np.dtype(str(tp.int16 if dtype == tp.bfloat16 else dtype).rpartition(".")[2])
        if not 0 <= begin <= end <= len(body) or end - begin != math.prod(shape) * kind.itemsize:
            raise ValueError(f"load_file: {name!r} of shape {list(shape)} does not fit the {end - begin} bytes it has")
        t = tp.from_numpy(np.frombuffer(body[begin:end], kind).reshape(shape).copy())
        out[name] = t.view(tp.bfloat16) if dtype == tp.bfloat16 else t
    return out
