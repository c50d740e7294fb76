"""Run student code in another process, with limits, in an empty system.

On Linux the process sees, through `unshare`, only the Python installation:
no repository, no home, no network, no other process. Where the system does
not offer that, limits and the refusals of `child.py` remain.
"""

import contextlib
import functools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from grading.wire import pack, unpack

CHILD = Path(__file__).with_name("child.py")
WIRE = Path(__file__).with_name("wire.py")
# Per item: processor time, memory beyond Python and the packages, print.
SECONDS, MEGABYTES, LETTERS = 5, 512, 100_000
# The limit is processor time, which a busy machine does not use up. The wall
# clock, so many times as long, ends only what sleeps.
PATIENCE = 12
DRIVE = """def drive(names, *args, **kwargs):
    return names[{!r}](*args, **kwargs)
"""
REPLY = 2**26  # bytes of one answer

# A root of its own that holds system libraries and Python, read-only.
ROOM = """
set -e
mount -t tmpfs -o size=16m none "$ROOM"
cd "$ROOM"
IFS='
'
for p in $FOLDERS; do
  if [ -L "$p" ]; then
    mkdir -p ".$(dirname "$p")"; ln -s "$(readlink "$p")" ".$p"
  elif [ -d "$p" ]; then
    mkdir -p ".$p"; mount --bind -o ro "$p" ".$p" || mount --rbind "$p" ".$p"
  fi
done
mkdir -p old proc dev home
mount -t proc proc proc
touch dev/null dev/urandom
mount --bind /dev/null dev/null
mount --bind /dev/urandom dev/urandom
pivot_root . old
umount -l /old
cd /home
exec "$@"
"""


class Lost(Exception):
    """The item is lost; the message tells the student why."""


def python_folders():
    """Return the folders that hold Python and its packages."""
    names = [sys.prefix, sys.base_prefix, os.path.realpath(sys.executable)]
    names += [sysconfig.get_path(n) for n in ("stdlib", "purelib", "platlib")]
    names[2] = os.path.dirname(names[2])
    return sorted({n for n in names if n}, key=len)


@functools.cache
def isolation():
    """Return the words that start a command in a room of its own."""
    room = ["unshare", "--user", "--map-root-user", "--net", "--mount",
            "--pid", "--ipc", "--uts", "--fork", "--kill-child",
            "sh", "-c", ROOM, "room"]
    if not shutil.which("unshare"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        probe = subprocess.run(
            [*room, sys.executable, "-I", "-c", "import numpy"],
            env=environment(folder), capture_output=True)
    return [] if probe.returncode else room


def environment(folder):
    """Return the few variables a child gets; `folder` becomes its root."""
    folders = ["/usr", "/bin", "/sbin", "/lib", "/lib64", *python_folders()]
    return {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "FOLDERS": "\n".join(folders),
            "ROOM": folder, "HOME": "/home", "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1"}


class Sandbox:
    """A process that forks one child per item; restarted when it is killed.

    Parameters
    ----------
    packages : sequence of str
        What student code may import beside the standard library.
    """

    def __init__(self, packages=("numpy",)):
        self.packages = list(packages)
        self.process, self.late = None, "does not start in time"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Kill the process and whatever it started."""
        if self.process:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
            self.folder.cleanup()
            self.process = None

    def start(self):
        """Start the process if it is not running."""
        if self.process:
            return
        source = (WIRE.read_text(encoding="utf-8")
                  + CHILD.read_text(encoding="utf-8").replace(
                      "from wire import pack, unpack\n", ""))
        self.buffer = bytearray()
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [*isolation(), sys.executable, "-I", "-B", "-c", source,
             json.dumps(self.packages)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0,
            env=environment(self.folder.name), cwd=self.folder.name,
            start_new_session=True)
        self.deadline = time.monotonic() + 600  # torch, cold, much else to do
        if self.read() != {"ready": True}:
            raise RuntimeError("the sandbox does not start")

    def read(self):
        """Return the next message; kill the process if it is late or odd."""
        out = self.process.stdout
        while b"\n" not in self.buffer:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                self.close()
                raise Lost(self.late)
            piece = os.read(out.fileno(), 2**20)
            self.buffer += piece
            if not piece or len(self.buffer) > REPLY:
                self.close()
                raise Lost("returns far too much" if piece
                           else "ends or crashes the process")
        line, _, rest = bytes(self.buffer).partition(b"\n")
        self.buffer[:] = rest
        try:
            message = json.loads(line)
            if isinstance(message, dict):
                return message
        except ValueError:
            pass
        self.close()
        raise Lost("writes into the grader's channel")

    def write(self, message):
        """Send one message."""
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
        except OSError:
            self.close()
            raise Lost("ends or crashes the process") from None

    def ask(self, message):
        """Send a message, return the value that comes back."""
        self.write(message)
        answer = self.read()
        if "ended" in answer:
            self.running = False
            code = answer["ended"]
            if code in (-signal.SIGXCPU, -signal.SIGKILL):
                raise Lost(self.late)
            raise Lost(f"ends the process (exit code {code})" if code >= 0
                       else f"crashes the process (signal {-code})")
        if "error" in answer:
            raise Lost(str(answer["error"])[:300])
        try:
            return unpack(answer["value"])
        except Exception:
            raise Lost("returns something unreadable") from None

    def open(self, cell, *, name, parts=(), before=(), given="",
             drive=None, seconds=SECONDS, megabytes=MEGABYTES):
        """Run a student's cell in a fork; return the function to call it."""
        self.late = (f"takes more than {seconds} s: an endless loop, or far "
                     "more work than is needed?")
        self.start()
        self.deadline = time.monotonic() + PATIENCE * seconds
        self.running = True
        self.ask({
            "cell": cell, "name": name, "parts": list(parts),
            "before": list(before), "given": given,
            "drive": drive or DRIVE.format(name), "packages": self.packages,
            "folders": [f + os.sep for f in (*python_folders(), "/usr")],
            "seconds": seconds, "megabytes": megabytes, "letters": LETTERS})

        def run(*args, **kwargs):
            return self.ask({"args": [pack(a) for a in args],
                             "kwargs": {k: pack(v) for k, v in
                                        kwargs.items()}})
        return run

    def finish(self):
        """End the fork, so that the next item finds a fresh one."""
        if self.process and self.running:
            try:
                self.deadline = time.monotonic() + 20
                self.write({"stop": True})
                while "ended" not in self.read():
                    pass
            except Lost:
                self.close()
