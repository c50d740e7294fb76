"""The grader of the coursework: `python -m grading` lists what it does."""
