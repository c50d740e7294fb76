"""Plain values as JSON and back: the only thing that crosses over."""

import base64
import builtins

import numpy as np

LARGEST = 2**24  # bytes of an array
KINDS = ["bool", "int8", "int16", "int32", "int64", "uint8",
         "float16", "float32", "float64"]


def pack(value):
    """Turn arrays, numbers, text and containers of them into JSON."""
    if hasattr(value, "detach"):  # a torch tensor
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.name not in KINDS:
            raise TypeError(f"an array of {value.dtype.name}")
        if value.nbytes > LARGEST:
            raise TypeError("far too much")
        raw = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": raw, "kind": value.dtype.name,
                "shape": list(value.shape)}
    if isinstance(value, list | tuple):
        name = "list" if isinstance(value, list) else "tuple"
        return {name: [pack(v) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[pack(k), pack(v)] for k, v in value.items()]}
    if value is None or isinstance(value, bool | int | float | str):
        return {"plain": value}
    kind = type(value)
    told = kind.__module__ == "builtins"  # another name could be a message
    raise TypeError(f"a {kind.__name__}" if told else "another kind of object")


def unpack(packed, array=lambda a: a):
    """Undo `pack`; `array` is applied to each array."""
    (name, value), *_ = packed.items()
    if name == "array":
        if packed["kind"] not in KINDS:
            raise ValueError(packed["kind"])
        flat = np.frombuffer(base64.b64decode(value), packed["kind"])
        return array(flat.reshape(packed["shape"]).copy())
    if name == "dict":
        return {unpack(k, array): unpack(v, array) for k, v in value}
    if name in ("list", "tuple"):
        return getattr(builtins, name)(unpack(v, array) for v in value)
    return value
