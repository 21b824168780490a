"""How many rows of each set: largest remainders, repeat caps, and the largest mixture without repetition."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

Key = TypeVar("Key", bound=str)
Weight = int | float | Fraction


def largest_remainder(total: int, weights: Mapping[Key, Weight]) -> dict[Key, int]:
    """``total`` divided in the ratio of ``weights``: each quota rounded down, and what is left to the largest
    remainders (Hamilton's method). Equal remainders: the lighter one first, then by name.

    Raises:
        ValueError: ``total`` is negative, or no weight is above 0.
    """
    exact = {key: Fraction(weight) for key, weight in weights.items()}
    whole = sum(exact.values())
    if total < 0 or whole <= 0 or any(weight < 0 for weight in exact.values()):
        raise ValueError(f"cannot divide {total} by weights {dict(weights)}")
    quotas = {key: total * weight / whole for key, weight in exact.items()}
    counts = {key: math.floor(quota) for key, quota in quotas.items()}
    order = sorted(quotas, key=lambda key: (counts[key] - quotas[key], exact[key], key))
    for key in order[: total - sum(counts.values())]:
        counts[key] += 1
    return counts


def filled(total: int, weights: Mapping[Key, Weight], room: Mapping[Key, int]) -> dict[Key, int]:
    """As :func:`largest_remainder`, but no key gets more than its ``room``: what it cannot take goes to the others in
    the ratio of their weights. The sum is less than ``total`` only where the rooms together are.
    """
    counts = dict.fromkeys(weights, 0)
    while sum(counts.values()) < total:
        open_ = {key: weight for key, weight in weights.items() if weight > 0 and counts[key] < room[key]}
        if not open_:
            break
        wanted = largest_remainder(total - sum(counts[key] for key in counts if key not in open_), open_)
        over = {key for key in open_ if wanted[key] > room[key]}
        for key in over:
            counts[key] = room[key]
        if not over:
            counts.update(wanted)
    return counts


def without_repetition(sizes: Mapping[Key, int], weights: Mapping[Key, Weight]) -> dict[Key, int]:
    """The largest counts in the ratio of ``weights`` that no size runs short of, each rounded down.

    The total is the least of size over share; the original system rounds it down before it takes the shares, as is
    done here: 12,500, 148,276 and 712 rows at 4:3:3 give a total of 2,373 and counts of 949, 711 and 711.
    """
    exact = {key: Fraction(weight) for key, weight in weights.items() if weight > 0}
    whole = sum(exact.values())
    total = min((math.floor(sizes[key] * whole / weight) for key, weight in exact.items()), default=0)
    return {key: math.floor(total * exact.get(key, Fraction(0)) / whole) if exact else 0 for key in weights}


def shares(
    domains: Mapping[str, Weight], sets: Mapping[str, Mapping[str, int]], *, by_size: bool
) -> dict[str, Fraction]:
    """The share of each set before any cap.

    Args:
        domains: weight of each domain.
        sets: domain -> set -> rows; sets without rows take no part.
        by_size: within a domain by numbers of rows instead of equally.

    Returns:
        Set -> share; they sum to 1 unless nothing has a weight and rows.
    """
    present = {domain: {name: rows for name, rows in found.items() if rows} for domain, found in sets.items()}
    weights = {domain: Fraction(weight) for domain, weight in domains.items() if present.get(domain)}
    whole = sum(weights.values())
    result: dict[str, Fraction] = {}
    for domain, found in present.items():
        rows = sum(found.values())
        for name, size in found.items():
            inside = Fraction(size, rows) if by_size else Fraction(1, len(found))
            result[name] = weights.get(domain, Fraction(0)) * inside / whole if whole else Fraction(0)
    return result


def planned(
    total: int, domains: Mapping[str, Weight], sets: Mapping[str, Mapping[str, int]], *, by_size: bool, cap: int
) -> dict[str, int]:
    """Draws of each set in ``total``: first the domains, then the sets within each, none above ``cap`` passes.

    What a set cannot give goes to the other sets of its domain, and what a domain cannot, to the other domains.
    """
    room = {domain: cap * sum(found.values()) for domain, found in sets.items()}
    weights = {domain: weight for domain, weight in domains.items() if domain in sets}
    counts: dict[str, int] = {name: 0 for found in sets.values() for name in found}
    for domain, count in filled(total, weights, room).items():
        inside: dict[str, Weight] = {name: (rows if by_size else int(rows > 0)) for name, rows in sets[domain].items()}
        counts.update(filled(count, inside, {name: cap * rows for name, rows in sets[domain].items()}))
    return counts
