"""The 25 types of instruction, a module a category, with the published checkers' semantics, oddities included."""
