"""The run itself: limits, stages, and what need not run again."""

import os
import queue
import runpy
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import unchanged

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = ["book", "katex", "models", "grading"]


@pytest.mark.skipif(
    not hasattr(signal, "SIGPROF"), reason="no timer of processor time"
)
def test_work_is_limited_and_waiting_is_not(tmp_path):
    """Kills a limit by the clock, and none at all."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  processor\n")
    (tmp_path / "test_it.py").write_text(
        "import time, pytest\n"
        "pytestmark = pytest.mark.processor(0.5)\n"
        "def test_loop():\n"
        "    while True: pass\n"
        "def test_wait():\n"
        "    time.sleep(1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert "1 failed, 1 passed" in done.stdout
    assert "used more than 0.5 s of processor time" in done.stdout
    assert "while True: pass" in done.stdout  # where it was


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
@pytest.mark.parametrize("broken", [(), ("lint",), ("unit", "pages")])
def test_every_stage_runs_and_all_that_failed_are_told(tmp_path, broken):
    """Kills a run that ends at the first failure, or hides one."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    needed = [f"requirements/{n}.txt" for n in INSTALLED]
    stamps = [f".venv/.{n}" for n in ("book", "all", "models", "grading")]
    for name in ("requirements.txt", "pyproject.toml", ".venv/bin/python",
                 *needed, *stamps):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    stages = ["lint", "unit", "grader", "book", "pages", "notebooks"]
    (tmp_path / "stand-in").write_text(
        'echo "ran $1"\n'
        f'case " {" ".join(broken)} " in *" $1 "*) exit 1;; esac\n'
    )
    # What this run was asked for is not what that one is.
    env = {k: v for k, v in os.environ.items() if "MAKE" not in k}
    env.pop("STAGES", None)
    done = subprocess.run(
        ["make", "test", "MAKE=sh stand-in"],
        cwd=tmp_path, env=env, capture_output=True, text=True,
    )  # fmt: skip
    said = done.stdout.splitlines()
    assert [s for s in stages if f"ran {s}" in said] == stages
    for s in stages:
        word = "FAILED" if s in broken else "ok"
        assert sum(f"== {s} {word}, " in line for line in said) == 2
    assert (done.returncode != 0) is bool(broken)
    names = " ".join(broken)
    last = f"== FAILED: {names}, " if broken else "== all ok, "
    assert said[-1].startswith(last)


# ------------------------------------------------- what has not changed


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Return an empty store, where things may be kept."""
    for name in ("FRESH", "CI"):
        monkeypatch.delenv(name, raising=False)
    return unchanged.Kept("notebooks", tmp_path / "cache")


@pytest.fixture
def ran(tmp_path, kept, capfd):
    """Return a function that runs a stand-in for pytest on two files."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "files = sys.argv[1:]\n"
        "bad = [f for f in files if 'BAD' in open(f).read()]\n"
        "print('ran', *[f[-4:] for f in files])\n"
        "for f in bad: print(f'FAILED {f}::Cell 1 - it is')\n"
        "sys.exit(bool(bad))\n"
    )
    files = [str(tmp_path / name) for name in ("a.nb", "b.nb")]

    def run(a, b, *options):
        for file, text in zip(files, (a, b), strict=True):
            Path(file).write_text(text)
        command = [sys.executable, *options, str(program)]
        code = unchanged.run(files, command, kept)
        lines = capfd.readouterr().out.splitlines()
        told = any(line.startswith("unchanged since") for line in lines)
        which = [
            w for li in lines if li.startswith("ran ") for w in li.split()
        ]
        return code, [name[0] for name in which[1:]], told

    return run


def test_what_passed_and_did_not_change_is_not_run_again(ran):
    assert ran("1", "2") == (0, ["a", "b"], False)
    assert ran("1", "2") == (0, [], True)
    assert ran("1", "3") == (0, ["b"], True)


def test_what_failed_is_run_again(ran):
    """Kills a failure that is kept, and a pass that is forgotten with it."""
    assert ran("1", "BAD") == (1, ["a", "b"], False)
    assert ran("1", "BAD") == (1, ["b"], True)
    assert ran("1", "2") == (0, ["b"], True)


def test_what_a_result_depends_on_counts(ran, monkeypatch):
    """Kills a pass that outlives another package, setting or command."""
    ran("1", "2")
    assert ran("1", "2", "-B") == (0, ["a", "b"], False)
    monkeypatch.setattr(unchanged, "machine", lambda: "another")
    assert ran("1", "2") == (0, ["a", "b"], False)
    real = unchanged.content

    def changed(*places):
        return (*real(*places), "more" if "src/qkv" in places else "")

    monkeypatch.setattr(unchanged, "content", changed)
    assert ran("1", "2") == (0, ["a", "b"], False)


@pytest.mark.parametrize("name", ["FRESH", "CI"])
def test_a_fresh_run_runs_everything(ran, monkeypatch, name):
    """Kills a build server that believes what it did before."""
    ran("1", "2")
    monkeypatch.setenv(name, "1")
    assert ran("1", "2") == (0, ["a", "b"], False)


def test_a_command_that_breaks_says_nothing_about_files(kept, tmp_path):
    """Kills a pass for files that were never looked at."""
    file = tmp_path / "a.nb"
    file.write_text("1")
    command = [sys.executable, "-c", "import sys; sys.exit(4)"]
    assert unchanged.run([str(file)], command, kept) == 4
    assert not kept.folder.exists()


def test_a_dead_kernel_is_seen_and_a_slow_one_waited_for():
    """Kills half an hour of waiting for nobody, and haste."""

    class Kernel:
        def __init__(self, *states):
            self.states = list(states)

        def is_alive(self):
            return self.states.pop(0)

    def silent(kernel, stream, timeout):
        if kernel.states:
            raise queue.Empty
        return "said"

    wait = runpy.run_path(ROOT / "conftest.py")["patient"](silent)
    assert wait(Kernel(True, True), "shell", 10) == "said"
    with pytest.raises(RuntimeError, match="has died"):
        wait(Kernel(True, False), "shell", 10)
    with pytest.raises(queue.Empty):  # nbval asks again and again
        wait(Kernel(True), "iopub", 1)
