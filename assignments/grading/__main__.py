"""python -m grading COMMAND: see the Makefile, which calls each of them."""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

import nbformat

from grading import text
from grading.items import ASSIGNMENTS, SOURCE, judge, problem_set, set_names

SITE = ASSIGNMENTS.parent / "_build" / "html"
WELCOME = """# Problem sets

Each folder holds one notebook. Start with

    python -m venv .venv
    . .venv/bin/activate        # Windows: .venv\\Scripts\\activate
    pip install -r requirements.txt
    jupyter lab

Write where a cell says `YOUR CODE HERE` or `YOUR ANSWER HERE`, and run the
check under it. Restart the kernel and run all cells once before you hand in.
Hand in the notebook under its own name; keep the cells that are there. A
check that says "nothing wrong found here" is a help, not the verdict: other
inputs decide.
"""


def build(course, names):
    """Validate, release, try release and reference, look for leaks."""
    from grading import course as c
    from grading.sandbox import Sandbox
    problems = [p for n in names for p in c.problems_of(n)]
    for name in names if not problems else []:
        path = course.release(name)
        pset = problem_set(name)
        variant = pset.variant(course.seed)
        source = course.read("source", name)
        reference = c.reference_of(source)
        with Sandbox(pset.packages) as sandbox:
            for title, book, want in (("reference", source, True),
                                      ("release", nbformat.read(path, 4),
                                       False)):
                for item in pset.items.values():
                    result = judge(pset, item, c.code_cells(book), reference,
                                   sandbox, course.seed, variant)
                    if result["ok"] != want:
                        problems.append(f"{name}: {item.name}: the {title} "
                                        f"gives {result}")
    problems += c.leaks(course.folder / "release", names)
    if SITE.is_dir():
        problems += c.leaks(SITE, names, strict=False)
    return problems


def main():
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="grading", description=__doc__)
    parser.add_argument("command", choices=[
        "coursework", "course", "grade", "check", "to-text", "to-notebook"])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--folder", default="_build/course")
    parser.add_argument("--seed")
    parser.add_argument("--out")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sets", default="")
    options = parser.parse_args()
    names = options.sets.split() or set_names()
    begin = time.monotonic()

    if options.command == "to-text":
        print(text.to_text(nbformat.read(options.paths[0], 4)))
    elif options.command == "to-notebook":
        source, name = options.paths
        book = text.to_notebook(Path(source).read_text(encoding="utf-8"))
        target = SOURCE / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(book, target)
        print(target)
    elif options.command == "check":
        from grading import table
        rows = table.check_answers(names, options.seed or "0",
                                   options.workers)
        print(table.show(rows))
        print(f"{time.monotonic() - begin:.0f} s")
        sys.exit(not all(row["good"] for row in rows))
    else:
        from grading.course import Course, leaks
        course = Course(options.folder, options.seed)
        if options.command == "grade":
            graded(course, options, begin)
            return
        problems = build(course, names)
        if options.command == "course" and not problems:
            problems = student_repository(course, names, options, leaks)
        for problem in problems:
            print(problem)
        print(f"{', '.join(names)}: {len(problems)} problems, "
              f"{time.monotonic() - begin:.0f} s")
        sys.exit(bool(problems))


def student_repository(course, names, options, leaks):
    """Write what students get, and nothing else."""
    out = Path(options.out)
    if out.exists() and any(out.iterdir()):
        return [f"{out} is not empty"]
    packages = {"numpy", "matplotlib", "jupyterlab"}
    for name in names:
        (out / name).mkdir(parents=True)
        shutil.copy(course.folder / "release" / name / f"{name}.ipynb",
                    out / name)
        packages |= set(problem_set(name).packages)
    root = ASSIGNMENTS.parent
    pins = {line.partition("==")[0]: line for file in
            ("requirements.txt", "requirements-book.txt") for line in
            (root / file).read_text(encoding="utf-8").splitlines()}
    (out / "requirements.txt").write_text(
        "".join(pins[p] + "\n" for p in sorted(packages)), encoding="utf-8")
    (out / "README.md").write_text(WELCOME, encoding="utf-8")
    return leaks(out, names)


def graded(course, options, begin):
    """Grade a folder of submissions and say what came out."""
    missing = [n for n in set_names() if not (
        course.folder / "release" / n / f"{n}.ipynb").exists()]
    for name in missing:
        course.release(name)
    if course.seed == "0":
        print("The hidden inputs are those of the public repository; "
              "`make course SEED=…` starts a course with its own.")
    new = course.grade(options.paths[0], options.workers)
    for (student, name), points in course.marks().items():
        path = course.folder / "outcomes" / student / f"{name}.json"
        if not path.exists():
            continue
        outcome = json.loads(path.read_text(encoding="utf-8"))
        lost = [f"{n} ({r['why']})" for n, r in outcome["items"].items()
                if not r["ok"]]
        print(f"{student} {name}: {sum(points.values()):g} points"
              + ("" if new.get((student, name)) else ", as before")
              + "".join(f"\n    lost {one}" for one in lost))
    print(f"{sum(new.values())} of {len(new)} graded now, "
          f"{time.monotonic() - begin:.0f} s; marks in "
          f"{course.folder / 'marks.csv'}, pages in "
          f"{course.folder / 'feedback'}")


if __name__ == "__main__":
    main()
