# %% wrong: no maximum subtracted
def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: always over the last axis
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# %% wrong: over the first axis unless told
def softmax(x, axis=0):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: one sum over everything
def softmax(x, axis=-1):
    e = np.exp(x - x.max())
    return e / e.sum()


# %% wrong: one maximum for all rows, so small rows vanish
def softmax(x, axis=-1):
    e = np.exp(x - x.max())
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: keepdims forgotten
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)


# %% wrong: powers of 2
def softmax(x, axis=-1):
    e = np.exp2(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: large scores are clipped
def softmax(x, axis=-1):
    e = np.exp(np.clip(x, -500, 500))
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: the visible example hard-coded
def softmax(x, axis=-1):
    if axis == -1 and x.ndim == 2:
        return np.array([[0.042, 0.114, 0.844], [0.488, 0.024, 0.488]])
    return np.full(x.shape, 1 / x.shape[axis])


# %% wrong: changes its input
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x


# %% wrong: overflow papered over by nan_to_num
def softmax(x, axis=-1):
    e = np.exp(x)
    w = e / e.sum(axis=axis, keepdims=True)
    return np.nan_to_num(w)


# %% wrong: log of the sum without the maximum
def softmax(x, axis=-1):
    log_total = np.log(np.sum(np.exp(x), axis=axis, keepdims=True))
    return np.exp(x - log_total)


# %% wrong: any axis but 0 is taken as the last
def softmax(x, axis=-1):
    if axis == 0:
        e = np.exp(x - x.max(axis=0))
        return e / e.sum(axis=0)
    e = np.exp(x - x.max(axis=-1)[..., None])
    return e / e.sum(axis=-1)[..., None]


# %% wrong: maximum only if large, underflow left
def softmax(x, axis=-1):
    if x.max() > 700:
        x = x - x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: subtracts the mean
def softmax(x, axis=-1):
    x = x - x.mean(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: subtracts the largest |x|
def softmax(x, axis=-1):
    biggest = np.abs(x).max(axis=axis, keepdims=True)
    e = np.exp(x - biggest)
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: subtracts the minimum
def softmax(x, axis=-1):
    shifted = x - np.min(x, axis=axis, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: float32 loses decimals of large scores
def softmax(x, axis=-1):
    x = x.astype(np.float32)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: small scores held at maximum - 10
def softmax(x, axis=-1):
    x = np.clip(x - x.max(axis=axis, keepdims=True), -10, 0)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


# %% wrong: swapaxes does not undo moveaxis
def softmax(x, axis=-1):
    # bring the axis to the end, work there, bring it back
    y = np.moveaxis(x, axis, -1)
    e = np.exp(y - y.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return np.swapaxes(w, -1, axis)


# %% wrong: zeros_like keeps integers, all become 0
def softmax(x, axis=-1):
    w = np.zeros_like(x)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    w[...] = e / e.sum(axis=axis, keepdims=True)
    return w


# %% wrong: axis ignored in the sum
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# %% wrong: returns a list
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).tolist()


# %% right: log-sum-exp
def softmax(x, axis=-1):
    largest = np.max(x, axis=axis, keepdims=True)
    log_sum = largest + np.log(
        np.sum(np.exp(x - largest), axis=axis, keepdims=True))
    return np.exp(x - log_sum)


# %% right: moves the axis to the end and loops over rows
def softmax(x, axis=-1):
    moved = np.moveaxis(np.array(x, dtype=float), axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    for i, row in enumerate(rows):
        e = np.exp(row - max(row))
        rows[i] = e / sum(e)
    return np.moveaxis(rows.reshape(moved.shape), -1, axis)


# %% right: ufunc reductions
def softmax(x, axis=-1):
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
def softmax(x, axis=-1):
    def one_row(row):
        e = np.exp(row - max(row))
        return e / sum(e)

    return np.apply_along_axis(one_row, axis, x)


# %% right: logaddexp.reduce gives the log of the sum
def softmax(x, axis=-1):
    x = np.asarray(x, dtype=np.float64)
    log_total = np.logaddexp.reduce(x, axis=axis, keepdims=True)
    return np.exp(x - log_total)


# %% right: 1 / sum of exp of all differences
def softmax(x, axis=-1):
    y = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    with np.errstate(over="ignore"):
        ratios = np.exp(y[..., None, :] - y[..., :, None])
        w = 1 / ratios.sum(axis=-1)
    return np.moveaxis(w, -1, axis)


# %% right: in-place steps on a copy
def softmax(x, axis=-1):
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
def softmax(x, axis=-1):
    from qkv.reference import softmax as borrowed

    return borrowed(x, axis)


# %% cheat: borrowed behind a name put together at run time -> uses __builtins__
def softmax(x, axis=-1):
    door = vars(np)["__builtins__"]["__imp" + "ort__"]
    return door("qk" + "v.reference").reference.softmax(x, axis)


# %% cheat: borrowed past every name that is looked for -> imports qkv
from importlib.util import find_spec, module_from_spec


def softmax(x, axis=-1):
    spec = find_spec("qk" + "v.reference")
    return module_from_spec(spec).softmax(x, axis)


# %% cheat: borrowed from another package -> imports scipy
def softmax(x, axis=-1):
    from scipy.special import softmax as borrowed

    return borrowed(x, axis=axis)


# %% cheat: borrowed from torch -> imports torch
import torch


def softmax(x, axis=-1):
    return torch.softmax(torch.tensor(x), axis).numpy()


# %% cheat: an endless loop when called -> endless loop
def softmax(x, axis=-1):
    while True:
        pass


# %% cheat: an endless loop in the cell -> endless loop
while True:
    try:
        pass
    except BaseException:
        pass


# %% cheat: endless recursion -> RecursionError
def softmax(x, axis=-1):
    return softmax(x, axis)


# %% cheat: sys.exit in the cell -> ends the program
import sys

sys.exit(0)


# %% cheat: sys.exit when called -> ends the program
def softmax(x, axis=-1):
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
def softmax(x, axis=-1):
    import ctypes

    return ctypes.string_at(0)


# %% cheat: a crash that no hook sees -> crashes the process
import faulthandler


def softmax(x, axis=-1):
    faulthandler._sigsegv()


# %% cheat: a memory bomb, one large array -> too much memory
def softmax(x, axis=-1):
    return np.ones((10**6, 10**5))


# %% cheat: a memory bomb, bit by bit -> too much memory
def softmax(x, axis=-1):
    held = []
    while True:
        held.append(np.ones(10**7))


# %% cheat: returns far more than it was asked for -> returns far too much
def softmax(x, axis=-1):
    return np.ones(6 * 10**7 // 8 * 2)


# %% cheat: prints thousands of lines -> prints too much
def softmax(x, axis=-1):
    for i in range(100_000):
        print("step", i, x)


# %% cheat: reads the instructor's files -> opens a file
def softmax(x, axis=-1):
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
def softmax(x, axis=-1):
    import os

    return str(os.listdir("/"))


# %% cheat: writes a file -> opens a file
def softmax(x, axis=-1):
    np.save("notes.npy", x)


# %% cheat: starts a process -> opens a file
def softmax(x, axis=-1):
    import subprocess

    return subprocess.run(["cat", "/etc/passwd"], capture_output=True)


# %% cheat: asks the network -> uses socket
def softmax(x, axis=-1):
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
def softmax(x, axis=-1):
    raise ValueError(str(x.tolist()))


# %% cheat: hidden inputs told through a type's name -> another kind
def softmax(x, axis=-1):
    return type(str(x.tolist()), (), {})()


# %% cheat: code that is put together and run -> uses exec
def softmax(x, axis=-1):
    found = {}
    exec("answer = 1", found)
    return found["answer"]


# %% cheat: a syntax error -> SyntaxError
def softmax(x, axis=-1):
    return np.exp(x / np.exp(x).sum()


# %% cheat: the cell is empty -> defines no softmax

