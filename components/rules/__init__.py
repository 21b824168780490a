"""Rubric lines that code decides instead of a judge: word counts, mathematical answers, functions of the data."""
