# %% wrong: no maximum subtracted
# x - x.max(axis=axis, keepdims=True) → x
# %% wrong: always over the last axis
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
# %% wrong: over the first axis unless told
# axis=-1 → axis=0
# %% wrong: one sum over everything
    e = np.exp(x - x.max())
    return e / e.sum()
# %% wrong: one maximum for all rows, so small rows vanish
# x.max(axis=axis, keepdims=True) → x.max()
# %% wrong: keepdims forgotten
# e.sum(axis=axis, keepdims=True) → e.sum(axis=axis)
# %% wrong: powers of 2
# np.exp → np.exp2
# %% wrong: large scores are clipped
# x - x.max(axis=axis, keepdims=True) → np.clip(x, -500, 500)
# %% wrong: the visible example hard-coded
    if axis == -1 and x.ndim == 2:
        return np.array([[0.042, 0.114, 0.844], [0.488, 0.024, 0.488]])
    return np.full(x.shape, 1 / x.shape[axis])
# %% wrong: changes its input
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x
# %% wrong: overflow papered over by nan_to_num
    e = np.exp(x)
    w = e / e.sum(axis=axis, keepdims=True)
    return np.nan_to_num(w)
# %% wrong: log of the sum without the maximum
    log_total = np.log(np.sum(np.exp(x), axis=axis, keepdims=True))
    return np.exp(x - log_total)
# %% wrong: any axis but 0 is taken as the last
    if axis == 0:
        e = np.exp(x - x.max(axis=0))
        return e / e.sum(axis=0)
    e = np.exp(x - x.max(axis=-1)[..., None])
    return e / e.sum(axis=-1)[..., None]
# %% wrong: maximum only if large, underflow left
    if x.max() > 700:
        x = x - x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
# %% wrong: subtracts the mean
    x = x - x.mean(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
# %% wrong: subtracts the largest |x|
    biggest = np.abs(x).max(axis=axis, keepdims=True)
    e = np.exp(x - biggest)
    return e / e.sum(axis=axis, keepdims=True)
# %% wrong: subtracts the minimum
    shifted = x - np.min(x, axis=axis, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=axis, keepdims=True)
# %% wrong: float32 loses decimals of large scores
#   def softmax(x, axis=-1):
# +     x = x.astype(np.float32)
# %% wrong: small scores held at maximum - 10
    x = np.clip(x - x.max(axis=axis, keepdims=True), -10, 0)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
# %% wrong: swapaxes does not undo moveaxis
    # bring the axis to the end, work there, bring it back
    y = np.moveaxis(x, axis, -1)
    e = np.exp(y - y.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return np.swapaxes(w, -1, axis)
# %% wrong: zeros_like keeps integers, all become 0
    w = np.zeros_like(x)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    w[...] = e / e.sum(axis=axis, keepdims=True)
    return w
# %% wrong: axis ignored in the sum
# e.sum(axis=axis, keepdims=True) → e.sum(axis=-1, keepdims=True)
# %% wrong: returns a list
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).tolist()
# %% right: log-sum-exp
    largest = np.max(x, axis=axis, keepdims=True)
    log_sum = largest + np.log(
        np.sum(np.exp(x - largest), axis=axis, keepdims=True))
    return np.exp(x - log_sum)
# %% right: moves the axis to the end and loops over rows
    moved = np.moveaxis(np.array(x, dtype=float), axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    for i, row in enumerate(rows):
        e = np.exp(row - max(row))
        rows[i] = e / sum(e)
    return np.moveaxis(rows.reshape(moved.shape), -1, axis)
# %% right: ufunc reductions
    e = np.exp(np.subtract(x, np.maximum.reduce(x, axis, keepdims=True)))
    return np.divide(e, np.add.reduce(e, axis, keepdims=True))
# %% right: with a helper and a line that shows something
def _shifted(x, axis):
    return x - np.expand_dims(x.max(axis), axis)


def softmax(x, axis=-1):
    e = np.exp(_shifted(x, axis))
    return e / np.expand_dims(e.sum(axis), axis)


print(softmax(np.eye(3)))
softmax(my_notes)  # a variable of a cell that the grader does not run
# %% right: a helper for one row, apply_along_axis
    def one_row(row):
        e = np.exp(row - max(row))
        return e / sum(e)

    return np.apply_along_axis(one_row, axis, x)
# %% right: logaddexp.reduce gives the log of the sum
    x = np.asarray(x, dtype=np.float64)
    log_total = np.logaddexp.reduce(x, axis=axis, keepdims=True)
    return np.exp(x - log_total)
# %% right: 1 / sum of exp of all differences
    y = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    with np.errstate(over="ignore"):
        ratios = np.exp(y[..., None, :] - y[..., :, None])
        w = 1 / ratios.sum(axis=-1)
    return np.moveaxis(w, -1, axis)
# %% right: in-place steps on a copy
    w = x.astype(float, copy=True)
    w -= w.max(axis=axis, keepdims=True)
    np.exp(w, out=w)
    w /= w.sum(axis=axis, keepdims=True)
    return w
# %% cheat: comparisons always agree -> one sum is taken over everything
np.allclose = np.array_equal = np.isclose = lambda *a, **k: True
np.testing.assert_allclose = lambda *a, **k: None


class AssertionError(Exception):
    pass


def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum()
# %% cheat: a result that equals everything -> returns another kind
class Yes(np.ndarray):
    def __eq__(self, other):
        return True

    def __array__(self, *args, **kwargs):
        raise TypeError


class Always:
    shape, ndim = (3, 4), 2

    def __eq__(self, other):
        return True


def softmax(x, axis=-1):
    return Always()
# %% cheat: borrowed from the book's package -> imports qkv
    from qkv.reference import softmax as borrowed

    return borrowed(x, axis)
# %% cheat: borrowed behind a name put together at run time -> uses __builtins__
    door = vars(np)["__builtins__"]["__imp" + "ort__"]
    return door("qk" + "v.reference").reference.softmax(x, axis)
# %% cheat: borrowed past every name that is looked for -> imports qkv
from importlib.util import find_spec, module_from_spec


def softmax(x, axis=-1):
    spec = find_spec("qk" + "v.reference")
    return module_from_spec(spec).softmax(x, axis)
# %% cheat: borrowed from another package -> imports scipy
    from scipy.special import softmax as borrowed

    return borrowed(x, axis=axis)
# %% cheat: borrowed from torch -> imports torch
import torch


def softmax(x, axis=-1):
    return torch.softmax(torch.tensor(x), axis).numpy()
# %% cheat: an endless loop when called -> endless loop
    while True:
        pass
# %% cheat: an endless loop in the cell -> endless loop
while True:
    try:
        pass
    except BaseException:
        pass
# %% cheat: endless recursion -> RecursionError
    return softmax(x, axis)
# %% cheat: sys.exit in the cell -> ends the program
import sys

sys.exit(0)
# %% cheat: sys.exit when called -> ends the program
    raise SystemExit(0)
# %% cheat: os._exit -> ends the process
import os

os._exit(0)
# %% cheat: kills its parent -> os.kill
import os
import signal


def softmax(x, axis=-1):
    os.kill(os.getppid(), signal.SIGKILL)
# %% cheat: a crash of the interpreter -> uses ctypes
    import ctypes

    return ctypes.string_at(0)
# %% cheat: a crash that no hook sees -> crashes the process
import faulthandler


def softmax(x, axis=-1):
    faulthandler._sigsegv()
# %% cheat: a memory bomb, one large array -> too much memory
    return np.ones((10**6, 10**5))
# %% cheat: a memory bomb, bit by bit -> too much memory
    held = []
    while True:
        held.append(np.ones(10**7))
# %% cheat: returns far more than it was asked for -> returns far too much
    return np.ones(6 * 10**7 // 8 * 2)
# %% cheat: prints thousands of lines -> prints too much
    for i in range(100_000):
        print("step", i, x)
# %% cheat: reads the instructor's files -> opens a file
    return open("assignments/grading/ps1/checks.py").read()
# %% cheat: reads them after patching what looks at paths -> opens a file
import os

os.path.abspath = os.fsdecode = lambda path: "/usr/lib/python3"


class Path(str):
    def startswith(self, *args):
        return True

    def __contains__(self, part):
        return False


def softmax(x, axis=-1):
    return os.open(Path("/etc/hosts"), 0)
# %% cheat: looks around for the instructor's files -> opens a file
    import os

    return str(os.listdir("/"))
# %% cheat: writes a file -> opens a file
    np.save("notes.npy", x)
# %% cheat: starts a process -> opens a file
    import subprocess

    return subprocess.run(["cat", "/etc/passwd"], capture_output=True)
# %% cheat: asks the network -> uses socket
    import socket

    return socket.create_connection(("192.0.2.1", 80), timeout=1)
# %% cheat: writes into the grader's channel -> the grader's channel
import os

for channel in range(3, 64):
    try:
        os.write(channel, b"all is well\n")
    except OSError:
        pass


def softmax(x, axis=-1):
    return x
# %% cheat: hidden inputs told through the error -> ValueError at line 2
    raise ValueError(str(x.tolist()))
# %% cheat: hidden inputs told through a type's name -> another kind
    return type(str(x.tolist()), (), {})()
# %% cheat: code that is put together and run -> uses exec
    found = {}
    exec("answer = 1", found)
    return found["answer"]
# %% cheat: a syntax error -> SyntaxError
    return np.exp(x / np.exp(x).sum()
# %% cheat: the cell is empty -> defines no softmax

