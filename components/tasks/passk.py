"""The unbiased estimator of pass@k (Chen et al. 2021, section 2.1)."""


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Probability that at least one of k samples, drawn from n without replacement, is correct.

    1 - C(n - c, k) / C(n, k), as a product in which nothing overflows.

    Args:
        n: samples of the task.
        correct: those that pass, from 0 to n.
        k: samples drawn, from 1 to n.

    Raises:
        ValueError: k is above n, or a number is out of its range. Nothing can be estimated then.
    """
    if not 0 <= correct <= n:
        raise ValueError(f"{correct} correct of {n} samples")
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} needs at least {max(k, 1)} samples a task, and a k of at least 1; there are {n}")
    if n - correct < k:
        return 1.0
    failing = 1.0
    for size in range(n - correct + 1, n + 1):
        failing *= 1.0 - k / size
    return 1.0 - failing
