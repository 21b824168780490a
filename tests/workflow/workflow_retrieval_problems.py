"""Thirty problems in ten topics, three each, worded apart: written before anything was measured on them."""

TOPICS: dict[str, tuple[str, str, str]] = {
    "discount": (
        "A jacket costs 80 dollars. The shop takes 25% off. How much does Nora pay?",
        "After a 15 percent price cut a kettle sells for 34 euros. What did it cost before?",
        "Omar buys two books at 12 dollars each and has a coupon worth one tenth of the bill. What is his total?",
    ),
    "speed": (
        "A train travels 180 km in 2.5 hours. What is its average speed?",
        "Lena cycles to work at 18 km/h and needs 40 minutes. How far is the way?",
        "Two cars leave towns 300 miles apart and drive towards each other at 60 and 40 mph. When do they meet?",
    ),
    "probability": (
        "Two fair dice are rolled. What is the probability that the sum is 7?",
        "An urn holds 3 red and 5 blue balls. Two are drawn without replacement. How likely are both red?",
        "What are the chances of getting exactly two heads when a coin is tossed four times?",
    ),
    "triangle": (
        "In triangle $ABC$ the angle at $B$ is right, $AB = 6$ and $BC = 8$. Find the length of $AC$.",
        "The sides of a triangle measure 13, 14 and 15. What is its area?",
        "An isosceles triangle has base 10 and legs of 13. Compute its height.",
    ),
    "congruence": (
        "What is the remainder when $7^{100}$ is divided by 5?",
        "Find the smallest positive integer $n$ such that $n \\equiv 2 \\pmod 3$ and $n \\equiv 3 \\pmod 7$.",
        "Determine the last digit of 2 to the power 2023.",
    ),
    "palindrome": (
        'def is_palindrome(s: str) -> bool:\n    """Whether the text reads the same backwards."""\n',
        "Write a function to find the longest substring of a string that is the same when reversed.",
        'def make_mirror(word: str) -> str:\n    """Append the fewest letters, for a palindrome."""\n',
    ),
    "prime": (
        'def primes_up_to(n: int) -> list[int]:\n    """All prime numbers that are not greater than n."""\n',
        "Write a function that returns the prime factors of a given integer in rising order.",
        "Write a python function to check whether a number has no divisors other than 1 and itself.",
    ),
    "sorting": (
        "Write a function to sort a list of tuples by their second element.",
        'def merge_sorted(a: list[int], b: list[int]) -> list[int]:\n    """One ascending list of two."""\n',
        "Write a python function that puts the elements of an array into descending order without sorted().",
    ),
    "rivers": (
        "Context: The Danube rises in the Black Forest and flows through ten countries to the Black Sea.\n"
        "Question: Into which sea does the Danube flow?",
        "Context: At 6,650 km the Nile is often called the longest river; its delta is in Egypt.\n"
        "Question: How long is the Nile?",
        "Context: The Amazon carries more water than any other stream and reaches the Atlantic in Brazil.\n"
        "Question: Which ocean receives the water of the Amazon?",
    ),
    "composers": (
        "Context: Mozart was born in Salzburg in 1756 and wrote more than 600 works.\n"
        "Question: In which city was Mozart born?",
        "Context: Beethoven's ninth symphony was first performed in Vienna in 1824, when he was deaf.\n"
        "Question: When was the ninth symphony first performed?",
        "Context: Clara Schumann was a pianist who wrote concertos and toured Europe for decades.\n"
        "Question: Which instrument did Clara Schumann play?",
    ),
}
"""Problems by topic. Five topics of mathematics, three of programs, two of questions about a text."""
