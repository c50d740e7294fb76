"""What students get: notebooks, a README, a way to run the visible checks.

With it come two files that GitHub Classroom reads. Both run visible checks
only: what a student's repository can run, a student can read.
"""

import json
import shutil

import yaml

from grading.items import ASSIGNMENTS, problem_set

HANDOUT = ASSIGNMENTS / "handout"
SETUP = ("pip install -r requirements.txt --extra-index-url "
         "https://download.pytorch.org/whl/cpu")
MINUTES = 5
GRADER = "classroom-resources/autograding-command-grader@v1"
REPORTER = "classroom-resources/autograding-grading-reporter@v1"


def requirements(names):
    """Return the pinned packages that some sets need."""
    packages = {"numpy", "matplotlib", "jupyterlab", "ipykernel"}
    for name in names:
        packages |= set(problem_set(name).packages)
    pins = {}
    for file in ("requirements.txt", "requirements/book.txt"):
        text = (ASSIGNMENTS.parent / file).read_text(encoding="utf-8")
        pins |= {line.partition("==")[0]: line for line in text.splitlines()}
    return "".join(pins[p] + "\n" for p in sorted(packages))


def checks(course, names):
    """Return (id, title, command, points) of each visible check."""
    return [(f"{name}-{item}", f"{name}: {item}",
             f"python check.py {name} {item}", int(worth))
            for name in names for item, worth in course.points(name).items()]


def workflow(found):
    """Return the workflow that GitHub Classroom runs after each push."""
    steps = [{"uses": "actions/checkout@v4"},
             {"uses": "actions/setup-python@v5",
              "with": {"python-version": "3.12", "cache": "pip"}},
             {"run": SETUP}]
    for name, title, command, worth in found:
        steps.append({"name": title, "id": name, "uses": GRADER, "with": {
            "test-name": title, "command": command, "timeout": MINUTES,
            "max-score": worth}})
    results = {f"{name.upper()}_RESULTS": f"${{{{steps.{name}.outputs.result}}"
               "}" for name, *_ in found}
    steps.append({"name": "report", "uses": REPORTER, "env": results,
                  "with": {"runners": ",".join(name for name, *_ in found)}})
    return {"name": "Autograding Tests",
            "on": ["push", "repository_dispatch", "workflow_dispatch"],
            "permissions": {"checks": "write", "actions": "read",
                            "contents": "read"},
            "jobs": {"run-autograding-tests": {
                "if": "github.actor != 'github-classroom[bot]'",
                "runs-on": "ubuntu-latest", "timeout-minutes": 30,
                "steps": steps}}}


def write(course, names, out):
    """Write the students' repository; return what prevented it."""
    if out.exists() and any(out.iterdir()):
        return [f"{out} is not empty"]
    for name in names:
        (out / name).mkdir(parents=True)
        shutil.copy(course.folder / "release" / name / f"{name}.ipynb",
                    out / name)
    for file in HANDOUT.iterdir():
        shutil.copy(file, out)
    (out / "requirements.txt").write_text(requirements(names),
                                          encoding="utf-8")
    found = checks(course, names)
    for path, text in (
            (".github/workflows/classroom.yml",
             yaml.safe_dump(workflow(found), sort_keys=False, width=78)),
            (".github/classroom/autograding.json", json.dumps({"tests": [
                {"name": title, "setup": SETUP, "run": command, "input": "",
                 "output": "", "comparison": "included", "timeout": MINUTES,
                 "points": worth} for _, title, command, worth in found]},
                indent=2) + "\n")):
        (out / path).parent.mkdir(parents=True)
        (out / path).write_text(text, encoding="utf-8")
    return []
