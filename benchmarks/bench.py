"""Measure attention on this machine: time, memory, share of the peak.

``make bench`` writes ``_build/bench/table.md``, ``figure.svg`` and
``results.json``; ``make bench SMALL=1`` only shows that it works.

Each contender has a process of its own, and they take turns: one turn each,
then the next round, so that what else the machine does hits all alike. A
turn draws new inputs, since where they lie in memory matters, calls once to
warm up, then calls for a tenth of a second; it counts with their median.
Ratios are formed within a round. What is shown is the median over the rounds
and half the distance between the quartiles. Extra memory is the peak during
one call above what the process held before it.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np

from contenders import CONTENDERS, check

ROOT = Path(__file__).resolve().parent.parent
SHAPES = [(8, 12, 128, 64), (4, 12, 512, 64), (1, 12, 2048, 64),
          (1, 8, 4096, 64)]  # fmt: skip
SMALL = [(1, 2, 64, 16), (2, 2, 128, 16)]
TURN = 0.1  # seconds; half of it to rest: threads of the one before spin a
# while before they sleep


# --------------------------------------------------- what a worker does


def worker(kind, name):
    """Read a case a line from stdin, time it, answer with a number."""
    build = CONTENDERS[kind][name]
    check(build)
    print("ready", flush=True)
    run = None
    for line in sys.stdin:
        run = None  # free the last one's memory first
        turn, case = json.loads(line)
        run = build(*case)
        run()
        times, end = [], time.perf_counter() + turn
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(median(times), flush=True)


def extra_memory(kind, name, case):
    """Return the peak of one call above what was there before, in MB."""
    shape, is_causal, backward = case
    build = CONTENDERS[kind][name]
    build((1, 2, 64, 16), is_causal, backward)()  # load what loads lazily
    run = build(shape, is_causal, backward)
    proc = Path("/proc/self")
    if not proc.exists():
        import resource

        unit = 1 if sys.platform == "darwin" else 1024

        def peak():
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            return used * unit / 1e6

        before = peak()
        run()
        return peak() - before

    def held(what):
        status = (proc / "status").read_text()
        return int(status.split(f"{what}:")[1].split()[0]) * 1024 / 1e6

    (proc / "clear_refs").write_text("5")  # the peak starts from here
    before = held("VmRSS")
    run()
    return held("VmHWM") - before


def matmul_peak(size=2048):
    """Return the best of ten square products, in GFLOP/s."""
    import torch

    a, b = torch.randn(2, size, size)
    best = np.inf
    for _ in range(10):
        start = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best / 1e9


def decoding(tokens):
    """Time SmolLM2 token by token, with its caches and without."""
    import torch

    from qkv.pretrained.smollm2 import SmolLM2

    model = SmolLM2()
    ids = model.encode("The capital of France is")
    caches, new, cached = model.caches(), ids, []
    with torch.no_grad():
        model(ids)  # warm up
        for _ in range(tokens):
            start = time.perf_counter()
            new = model(new, caches=caches)[:, -1:].argmax(-1)
            cached.append(time.perf_counter() - start)
            ids = torch.cat([ids, new], dim=1)
        uncached, prompt = [], ids.shape[1] - tokens
        for t in range(tokens):
            start = time.perf_counter()
            again = model(ids[:, : prompt + t])[:, -1:].argmax(-1)
            uncached.append(time.perf_counter() - start)
            # A tie in the last digit may fall either way.
            assert t > 8 or again == ids[0, prompt + t], "the cache is wrong"
    return {"cached": cached, "uncached": uncached}


# ------------------------------------------------- who asks whom, and when


def environment(threads):
    """Return the workers' environment."""
    env = dict(os.environ)
    # Some machines set it to an old CPU's name, which slows NumPy.
    env.pop("OPENBLAS_CORETYPE", None)
    if threads:
        for name in ("OMP", "MKL", "OPENBLAS"):
            env[f"{name}_NUM_THREADS"] = str(threads)
    return env


def child(task, env, **pipes):
    """Start this script again, for one task."""
    command = [sys.executable, __file__, "--task", json.dumps(task)]
    return subprocess.Popen(
        command, env=env, text=True, stdout=subprocess.PIPE, **pipes
    )


def answer(task, env):
    """Run a task in a process of its own; return what it found."""
    process = child(task, env)
    said, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{task} failed")
    return json.loads(said)


def time_all(shapes, rounds, env, turn=TURN):
    """Return a row for each contender and case, with its time per round."""
    rows = []
    for kind, contenders in CONTENDERS.items():
        workers = {
            name: child(["work", kind, name], env, stdin=subprocess.PIPE)
            for name in contenders
        }
        for name, process in workers.items():
            if process.stdout.readline() != "ready\n":
                raise SystemExit(f"{kind}, {name}: failed")
        passes = (False,) if kind == "NumPy" else (False, True)
        for case in product(shapes, (False, True), passes):
            times = {name: [] for name in workers}
            for _ in range(rounds):
                for name, process in workers.items():
                    time.sleep(turn / 2)
                    line = json.dumps([turn, case])
                    print(line, file=process.stdin, flush=True)
                    times[name].append(float(process.stdout.readline()))
            for name, seconds in times.items():
                shape, is_causal, backward = case
                rows.append({
                    "kind": kind, "name": name, "shape": shape,
                    "causal": is_causal, "backward": backward,
                    "seconds": seconds,
                    "ratios": [
                        mine / base for mine, base in
                        zip(seconds, next(iter(times.values())), strict=True)
                    ],
                    "gflop": gflop(kind, *case),
                })  # fmt: skip
            say(f"{kind} {case}: " + ", ".join(
                f"{name} {median(t) * 1e3:.3g} ms" for name, t in times.items()
            ))  # fmt: skip
        for process in workers.values():
            process.stdin.close()
            process.wait()
    return rows


def memory_all(shape, long, env, every=1):
    """Return a row for each contender: extra memory at the longest shape."""
    cases = [
        (kind, name, (shape, True, backward))
        for kind, contenders in CONTENDERS.items()
        for name in contenders
        for backward in ((False,) if kind == "NumPy" else (False, True))
        if (kind, name) != ("NumPy", "torch, fused")
    ]
    cases += [
        (kind, name, (long, True, False))
        for kind, name in (("functions", "qkv"), ("NumPy", "qkv.blockwise"))
    ]
    rows = []
    for kind, name, case in cases[::every]:
        used = answer(["memory", kind, name, case], env)
        shape, _, backward = case
        rows.append({
            "kind": kind, "name": name, "shape": shape, "causal": True,
            "backward": backward, "megabytes": used,
        })  # fmt: skip
        say(f"memory {name} {case}: {used:.0f} MB")
    return rows


def gflop(kind, shape, is_causal, backward):
    """Count what cannot be avoided: 2 per multiply-add, backward twice that.

    Only scores that may be attended; softmax and recomputing count nothing.
    """
    batch, heads, N, d = shape
    seen = N * (N + 1) / 2 if is_causal else N**2
    count = 2 * 2 * batch * heads * seen * d
    if kind == "modules":
        count += 4 * 2 * batch * N * (heads * d) ** 2
    return count * (3 if backward else 1) / 1e9


def say(text):
    """Show progress."""
    print(text, file=sys.stderr, flush=True)


# ------------------------------------------------------------ what is written


def spread(numbers):
    """Return half the distance between the quartiles."""
    low, high = np.quantile(numbers, [0.25, 0.75])
    return (high - low) / 2


def short(shape):
    """Write a shape as 8×12×128×64."""
    return "×".join(map(str, shape))


def case_name(row):
    """Say which of the four cases a row is about."""
    passes = "forward + backward" if row["backward"] else "forward"
    return passes + (", causal" if row["causal"] else "")


def table(results):
    """Write the results as Markdown."""
    at = results["machine"]
    lines = [
        "# Attention on this machine", "",
        f"{at['cpu']}, threads: {at['threads']}, {at['system']}; "
        f"Python {at['python']}, torch {at['torch']}, NumPy {at['numpy']}; "
        f"float32. Matrix product at its best: {at['peak']:.0f} GFLOP/s. "
        f"Load before: {at['load']} (0: nobody else was at work).", "",
        "Shapes are batch × heads × length × width of a head. A cell has the "
        "time, how many times the first row's that is (median ± half the "
        f"distance of the quartiles, {results['rounds']} rounds), and the "
        "share of the machine's peak.", "",
    ]  # fmt: skip
    shapes = [tuple(shape) for shape in results["shapes"]]
    for kind, contenders in CONTENDERS.items():
        cells, cases = {}, {}
        for row in results["times"]:
            if row["kind"] != kind:
                continue
            seconds = median(row["seconds"])
            share = row["gflop"] / seconds / at["peak"]
            cases[case_name(row)] = None
            cells[row["name"], case_name(row), tuple(row["shape"])] = (
                f"{seconds * 1e3:.3g} ms, {median(row['ratios']):.2f} "
                f"±{spread(row['ratios']):.2f}, {share:.0%}"
            )
        for case in cases:
            lines += [f"## {kind}: {case}", ""]
            lines += header(["", *map(short, shapes)])
            for name in contenders:
                row = [cells[name, case, shape] for shape in shapes]
                lines.append(f"| {name} | " + " | ".join(row) + " |")
            lines.append("")
    lines += ["## Extra memory, causal", ""]
    lines += header(["", "shape", "", "MB"])
    for row in results["memory"]:
        lines.append(
            f"| {row['name']} | {short(row['shape'])} "
            f"| {case_name(row)} | {row['megabytes']:.0f} |"
        )
    lines.append("")
    if results["decoding"]:
        lines += decoding_lines(results["decoding"])
    return "\n".join(lines)


def header(names):
    """Write the head of a Markdown table."""
    return [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]


def decoding_lines(found):
    """Write how long a token takes, early and late, cached and not."""
    n = len(found["cached"])
    few = max(1, n // 16)
    lines = ["## Decoding with SmolLM2", ""]
    lines += header([
        f"{n} tokens", f"first {few}", f"last {few}", "last / first",
        "all tokens",
    ])  # fmt: skip
    for name, times in found.items():
        first = median(times[1 : few + 1])  # the very first has the prompt
        last = median(times[-few:])
        lines.append(
            f"| {name} | {first * 1e3:.1f} ms | {last * 1e3:.1f} ms "
            f"| {last / first:.2f} | {sum(times):.1f} s |"
        )
    ratio = sum(found["uncached"]) / sum(found["cached"])
    return [*lines, "", f"Without the cache: {ratio:.1f} times as long.", ""]


def figure(results, path):
    """Draw each contender's time over the length, the first one's as 1."""
    from matplotlib import pyplot as plt

    from qkv.plot import style

    style()
    cases = list(product((False, True), (False, True)))
    fig, axes = plt.subplots(
        len(CONTENDERS), len(cases), figsize=(13, 8), sharex=True, sharey="row"
    )
    shapes = [tuple(shape) for shape in results["shapes"]]
    for (kind, contenders), line in zip(CONTENDERS.items(), axes, strict=True):
        for (backward, causal), ax in zip(cases, line, strict=True):
            rows = [
                row for row in results["times"]
                if (row["kind"], row["backward"], row["causal"])
                == (kind, backward, causal)
            ]  # fmt: skip
            if not rows:
                ax.axis("off")
                continue
            ax.set_title(f"{kind}: {case_name(rows[0])}", fontsize=9)
            for name in contenders:
                ratios = [median(r["ratios"]) for r in rows
                          if r["name"] == name]  # fmt: skip
                ax.plot(ratios, marker="o", label=name)
            ax.set_yscale("log", base=2)
            ax.yaxis.set_major_formatter("{x:g}×")
            ax.set_xticks(range(len(shapes)), [s[2] for s in shapes])
        line[0].set_ylabel(f"time / {next(iter(contenders))}", fontsize=9)
        line[0].legend(fontsize=8)
    fig.supxlabel("length N")
    fig.savefig(path)


def machine(peak, load, threads):
    """Say where this was measured."""
    import torch

    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists() and "model name" in info.read_text():
        cpu = info.read_text().split("model name")[1].split("\n")[0][3:]
    return {
        "cpu": cpu,
        "threads": threads or torch.get_num_threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "load": load,
        "peak": peak,
    }


def main():
    """Measure everything, write three files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--small", action="store_true", help="a few seconds")
    parser.add_argument(
        "--shapes", nargs="+", help="8x12x128x64 … (batch, heads, length, d)"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, help="as torch does if absent")
    parser.add_argument("--tokens", type=int, default=256, help="0: none")
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "bench")
    parser.add_argument("--task", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        return work(*options.task)
    shapes, rounds, tokens = SHAPES, options.rounds, options.tokens
    long = (1, 8, 16384, 64)
    if options.small:
        shapes, rounds, tokens, long = SMALL, 2, min(tokens, 3), (1, 1, 512, 8)
    if options.shapes:
        shapes = [tuple(map(int, s.split("x"))) for s in options.shapes]

    env = environment(options.threads)
    load = None  # Windows does not say
    if hasattr(os, "getloadavg"):
        load = round(os.getloadavg()[0], 1)
    peak = answer(["peak", 256 if options.small else 2048], env)
    results = {
        "machine": machine(peak, load, options.threads),
        "rounds": rounds,
        "shapes": shapes,
        # Small shows that it works: one call a turn is enough.
        "times": time_all(shapes, rounds, env, 0 if options.small else TURN),
        "memory": memory_all(
            max(shapes, key=lambda s: s[2]),
            long,
            env,
            every=9 if options.small else 1,
        ),
        "decoding": answer(["decode", tokens], env) if tokens else None,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "results.json").write_text(json.dumps(results, indent=1))
    (options.out / "table.md").write_text(table(results), encoding="utf-8")
    figure(results, options.out / "figure.svg")
    print(table(results))
    say(f"written: {options.out}/table.md, figure.svg, results.json")


def work(task, *details):
    """Do what the parent asked for."""
    if task == "work":
        worker(*details)
    else:
        tasks = {
            "memory": extra_memory,
            "peak": matmul_peak,
            "decode": decoding,
        }
        print(json.dumps(tasks[task](*details)))


if __name__ == "__main__":
    main()
