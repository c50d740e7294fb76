"""python -m grading COMMAND: see the Makefile, which calls each of them."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from grading import students, table, text, trial
from grading.course import (
    Course,
    code_cells,
    find_submissions,
    reference_of,
)
from grading.items import ASSIGNMENTS, SOURCE, judge, problem_set, set_names
from grading.sandbox import Sandbox
from grading.validate import leaks, problems_of

SITE = ASSIGNMENTS.parent / "_build" / "html"


def coursework(course, names):
    """Validate, release, try release and reference, look for leaks."""
    problems = [p for n in names for p in problems_of(n)]
    for name in names if not problems else []:
        path = course.release(name)
        pset = problem_set(name)
        variant = pset.variant(course.seed)
        source = course.read("source", name)
        reference = reference_of(source)
        with Sandbox(pset.packages) as sandbox:
            for title, book, want in (("reference", source, True),
                                      ("release", nbformat.read(path, 4),
                                       False)):
                for item in pset.items.values():
                    result = judge(pset, item, code_cells(book), reference,
                                   sandbox, course.seed, variant)
                    if result["ok"] != want:
                        problems.append(f"{name}: {item.name}: the {title} "
                                        f"gives {result}")
    problems += leaks(course.folder / "release", names)
    if SITE.is_dir():
        problems += leaks(SITE, names)
    return problems


def grade(course, options):
    """Grade a folder of submissions and say what came out."""
    for name in {name for _, name in find_submissions(options.paths[0])}:
        if not (course.folder / "release" / name / f"{name}.ipynb").exists():
            course.release(name)
    if course.seed == "0":
        print("The hidden inputs are those of the public repository; "
              "`make course SEED=…` starts a course with its own.")
    if options.due:
        course.due(options.due)
    new = course.grade(options.paths[0], options.workers, options.shard)
    for (student, name), points in course.marks().items():
        if not (outcome := course.outcome(student, name)):
            continue
        lost = [f"{n} ({r['why']})" for n, r in outcome["items"].items()
                if not r["ok"]]
        print(f"{student} {name}: {sum(points.values()):g} points"
              + ("" if new.get((student, name)) else ", as before")
              + "".join(f"\n    lost {one}" for one in lost))
    print(f"{sum(new.values())} of {len(new)} graded now; marks in "
          f"{course.folder / 'marks.csv'}, pages in "
          f"{course.folder / 'feedback'}")
    return []


def try_class(names, workers):
    """Let a class of made-up students hand in; return what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        course = Course(Path(folder, "course"), "trial")
        trial.hand_in(course, Path(folder, "handed in"), names)
        begin = time.monotonic()
        course.grade(Path(folder, "handed in"), workers)
        took = time.monotonic() - begin
        wrong = trial.verdicts(course, names)
        each = trial.seconds(course, names)
    print(f"a class of {len(wrong)}: {sum(map(bool, wrong.values()))} marked "
          f"otherwise than they should be; {took:.0f} s with {workers} "
          f"workers, {took / len(wrong):.1f} s each; checks alone: median "
          f"{each[len(each) // 2]:.2f} s, longest {each[-1]:.1f} s")
    return [f"{name} {why}" for name, why in wrong.items() if why]


def main():
    """Do what the command line asks for; exit with 1 if it found problems."""
    parser = argparse.ArgumentParser(prog="grading", description=__doc__)
    parser.add_argument("command", choices=[
        "coursework", "course", "grade", "check", "trial", "to-text",
        "to-notebook"])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--folder", default="_build/course")
    parser.add_argument("--seed")
    parser.add_argument("--out")
    parser.add_argument("--due")
    parser.add_argument("--shard", help="2/3: the second third of the class")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sets", default="")
    options = parser.parse_args()
    names = options.sets.split() or set_names()
    begin, problems = time.monotonic(), []

    if options.command == "to-text":
        print(text.to_text(nbformat.read(options.paths[0], 4)))
        return
    if options.command == "to-notebook":
        source, name = options.paths
        book = text.to_notebook(Path(source).read_text(encoding="utf-8"))
        target = SOURCE / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(book, target)
        print(target)
        return
    if options.command == "check":
        from unchanged import Kept  # in tools, as the Makefile has it

        rows = table.check_answers(names, options.seed or "0",
                                   options.workers, kept=Kept("verdicts"))
        print(table.show(rows))
        problems = [f"{r['set']} {r['item']}: {r['what']} is misjudged"
                    for r in rows if not r["good"]]
    elif options.command == "trial":
        problems = try_class(names, options.workers)
    else:
        course = Course(options.folder, options.seed)
        if options.command == "grade":
            problems = grade(course, options)
        else:
            problems = coursework(course, names)
            if options.command == "course" and not problems:
                problems = students.write(course, names, Path(options.out))
                problems = problems or leaks(options.out, names)
    for problem in problems:
        print(problem)
    print(f"{' '.join(names)}: {len(problems)} problems, "
          f"{time.monotonic() - begin:.0f} s")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
