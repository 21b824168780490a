"""What somebody who prepares a mixture should not have to find in info.json."""

from collections.abc import Mapping
from typing import Any


def notices(info: Mapping[str, Any]) -> list[str]:
    """Sentences about sets of which nothing is left to train on, and about rows that the cap did not allow.

    Args:
        info: as :func:`components.data.mixture.info.info_of` has it.
    """
    trained: Mapping[str, int] = info["rows"]["train"]
    asked = dict.fromkeys(each["set"] for each in info["inputs"] if each["part"] == "train" and each["rows"])
    found = []
    for name in asked:
        # Own rows are one file and up to three sets.
        if not any(each == name or each.startswith(f"{name}_") for each in trained):
            where = "they went to validation, or are duplicates of each other or of test rows (data_card.html)"
            found.append(f"no row of {name}'s training part is trained on: {where}")
    if short := info["mixture"]["materialised_short"]:
        total, cap = info["mixture"]["total_rows"], info["mixture"]["repeat_cap"]
        found.append(f"{total - short} rows are written, not {total}: no row may come more than {cap} times")
    return found
