"""What runs beside student code: it knows no check and no hidden input.

A line of JSON on stdin is a job: this process forks, the fork runs the
student's cells and then answers calls, one line each, until it is told to
stop. The parent (`sandbox.py`) enforces the wall clock by killing us.

Refusals are audit hooks, which Python code cannot take away again.
"""

import builtins
import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import types
import warnings

import numpy as np
from wire import pack, unpack


class Refused(Exception):
    """Student code asked for something that grading does not give."""


class RefusedImport(Refused, ImportError):
    """The libraries that try an import first catch this one."""


class RefusedFile(Refused, PermissionError):
    """The same for files."""


class Printed:
    """A stdout that keeps nothing, and has enough after `limit` letters."""

    def __init__(self, limit):
        self.left = limit

    def write(self, text):
        """Count."""
        self.left -= len(text)
        if self.left < 0:
            raise Refused("prints too much")
        return len(text)

    def flush(self):
        """Nothing to flush."""

    def isatty(self):
        """Nobody is reading."""
        return False


def forbid(packages, folders):
    """From now on refuse files, processes, network and other packages."""
    packages = frozenset(packages) | set(sys.stdlib_module_names)
    loaded = frozenset(name.partition(".")[0] for name in sys.modules)
    folders = tuple(folders)
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT
    harmful = ("subprocess.", "socket.", "ctypes.", "os.fork", "os.exec",
               "os.posix_spawn", "os.system", "os.spawn", "os.kill", "pty.",
               "gc.", "os.remove", "os.rename", "os.chdir", "code.__new__",
               "sys._current_frames", "resource.", "sqlite3.")
    text, raw, kind = str, bytes, type  # what students patch is not asked

    def elsewhere(path):
        path = raw.decode(path) if kind(path) is raw else path
        return (kind(path) is not text or ".." in path
                or not path.startswith(folders))

    def hook(event, args):
        if event == "import":
            top = args[0].partition(".")[0]
            if args[0].startswith("torch.nn.attention."):
                raise RefusedImport("delegates to torch's own attention")
            if not (top in packages or top in loaded
                    or top.startswith("_sysconfigdata")):
                raise RefusedImport(
                    f"imports {top}, which this set does not use")
        elif event in ("open", "os.listdir", "os.scandir"):
            path, *_, flags = args if event == "open" else (*args, 0)
            if (flags or 0) & writing or elsewhere(path):
                raise RefusedFile("opens a file")
        elif event.startswith(harmful):
            raise Refused(f"uses {event.partition('.')[0]} ({event})")

    sys.addaudithook(hook)


def without_compiler(torch):
    """Optimisers ask for torch's compiler, which would import far more."""
    sys.modules["torch._dynamo"] = torch._dynamo = types.SimpleNamespace(
        disable=lambda f, *_, **__: f, graph_break=lambda *_, **__: None)


def poison_torch(torch):
    """Torch's own attention raises, whichever name it is called by."""
    def refuse(*_, **__):
        raise Refused("delegates to torch's own attention")

    warnings.simplefilter("ignore")  # that operators are overridden
    places = [torch, torch._C._nn, torch.nn.functional, torch._C,
              torch._VF, torch.nn.MultiheadAttention, torch.nn.Transformer,
              torch.nn.TransformerEncoderLayer,
              torch.nn.TransformerDecoderLayer]
    words = ("scaled_dot_product", "multi_head_attention",
             "_native_multi_head_attention", "_transformer_encoder")
    for place in places:
        if isinstance(place, type):
            place.__init__ = refuse
            place.forward = refuse
            continue
        for name in dir(place):
            if any(word in name for word in words):
                setattr(place, name, refuse)

    # The operators below those names, which other names reach too.
    library = torch.library.Library("aten", "IMPL")
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::") and any(w in name for w in words):
            for key in ("CPU", "AutogradCPU"):
                library.impl(name.removeprefix("aten::"), refuse, key)
    return library  # which lasts as long as this object


def drop_rights():
    """No new rights, no tracing of this process, nothing root may do."""
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    libc.capset(header, (ctypes.c_uint32 * 6)())


def limit(megabytes, seconds):
    """Bound memory (beyond what is used now), processor time and files."""
    with open("/proc/self/statm" if os.path.exists("/proc/self/statm")
              else os.devnull) as file:
        pages = int((file.read() or "0").split()[0])
    room = pages * resource.getpagesize() + megabytes * 2**20
    for what, most in ((resource.RLIMIT_AS, room),
                       (resource.RLIMIT_CPU, seconds),
                       (resource.RLIMIT_FSIZE, 2**20),
                       (resource.RLIMIT_CORE, 0)):
        # macOS has no limit on memory.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def explain(error, cell):
    """Say what went wrong without a message that could carry a value."""
    if isinstance(error, Refused):
        return str(error)
    kind = next(c.__name__ for c in type(error).__mro__
                if getattr(builtins, c.__name__, None) is c)
    words = {"SystemExit": "ends the program (SystemExit)",
             "KeyboardInterrupt": "interrupts the program",
             "MemoryError": "needs too much memory",
             "NotImplementedError": "is not written yet"}
    text = words.get(kind, f"raises {kind}")
    if kind == "RuntimeError" and "allocate memory" in str(error):
        text = words["MemoryError"]  # torch
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == "your cell":
            line = trace.tb_lineno
        trace = trace.tb_next
    lines = cell.splitlines()
    if line and 0 < line <= len(lines) and kind != "NotImplementedError":
        text += f" at line {line} of your cell: {lines[line - 1].strip()[:80]}"
    return text


def serve(job, read, write):
    """Run a job's cells in this fork, then answer calls."""
    def array(value):
        torch = sys.modules.get("torch")
        return torch.from_numpy(value) if torch else value

    names = {"__name__": "__main__"}
    sys.stdout = sys.stderr = Printed(job["letters"])
    limit(job["megabytes"], job["seconds"])
    forbid(job["packages"], job["folders"])
    cell = job["cell"]

    def attempt(action):
        try:
            with np.errstate(all="ignore"):
                return action()
        except BaseException as error:  # SystemExit too
            try:
                return {"error": explain(error, cell)}
            except BaseException:
                return {"error": "raises an exception"}

    def start():
        for part in job["before"]:  # definitions of the other cells
            # One that fails is missed only if this item needs it.
            with contextlib.suppress(Exception):
                exec(compile(part, "another cell", "exec"), names)
        exec(compile(job["given"], "reference", "exec"), names)
        try:
            exec(compile(cell, "your cell", "exec"), names)
        except Exception:
            # A line that shows or tries something may need another cell's
            # variables: what counts is what this cell defines.
            if not job["parts"]:
                raise
            for line, part in job["parts"]:
                code = "\n" * (line - 1) + part
                exec(compile(code, "your cell", "exec"), names)
        if job["name"] not in names:
            raise Refused(f"defines no {job['name']}")
        driver = {}
        exec(compile(job["drive"], "driver", "exec"), driver)
        serve.drive = driver["drive"]
        return {"value": {"plain": None}}

    def call(message):
        args = [unpack(a, array) for a in message["args"]]
        kwargs = {k: unpack(v, array) for k, v in message["kwargs"].items()}
        result = serve.drive(names, *args, **kwargs)
        if [pack(a) for a in args] != message["args"]:
            return {"error": "changes its input"}
        try:
            return {"value": pack(result)}
        except (TypeError, AttributeError) as error:
            return {"error": f"returns {error}"}

    write(attempt(start))
    while message := read():
        if "stop" in message:
            break
        write(attempt(lambda: call(message)))
    os._exit(0)


def main():
    """Fork once per job, tell how each fork ended."""
    given, given_back = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    buffer = bytearray()

    def read():
        while b"\n" not in buffer:
            piece = os.read(given, 2**16)
            if not piece:
                return None
            buffer.extend(piece)
        line, _, rest = bytes(buffer).partition(b"\n")
        buffer[:] = rest
        return json.loads(line)

    def write(message):
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(given_back, data):]

    for name in json.loads(sys.argv[1]):  # import once, before the limits
        __import__(name)
    drop_rights()
    if torch := sys.modules.get("torch"):
        without_compiler(torch)
        kept = poison_torch(torch)  # noqa: F841
    write({"ready": True})
    while job := read():
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            serve(job, read, write)
        _, status = os.waitpid(pid, 0)
        write({"ended": os.waitstatus_to_exitcode(status)})


main()
