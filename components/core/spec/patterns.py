"""The specification's patterns of text, in words: what to write, and an example."""

from collections.abc import Mapping
from typing import Final

from components.core.spec.base import DNS_LABEL, FILE_NAME, NAME
from components.core.spec.kubernetes import LONG_LABEL, QUALIFIED, SUBDOMAIN

_VARIABLE: Final = "name an environment variable: capital letters, digits and underscores, such as JUDGE_KEY"
_SHA256: Final = "write 64 hexadecimal digits in lower case, as sha256sum prints them"

WORDS: Final[Mapping[str, str]] = {
    DNS_LABEL: "use lower-case letters, digits and hyphens, at most 40, with a letter or digit at both ends",
    NAME: "use lower-case letters, digits, hyphens and dots, at most 40",
    FILE_NAME: "name a file without its folder: letters, digits, hyphens, underscores and dots, such as words.txt",
    LONG_LABEL: "use lower-case letters, digits and hyphens, at most 63, with a letter or digit at both ends",
    SUBDOMAIN: "use lower-case letters, digits, hyphens and dots, with a letter or digit at both ends, as gavel-work",
    QUALIFIED: "write it as Kubernetes does: a name of at most 63 letters, digits, hyphens, underscores and dots, "
    "with a domain and a slash before it if need be, such as nvidia.com/gpu",
    r"\S": "write some text, or leave the key out if it may be null",
    r"^[A-Z_][A-Z0-9_]*$": _VARIABLE,
    r"^[0-9a-f]{64}$": _SHA256,
    r"^[0-9a-f]{40}$": "write a whole commit: 40 hexadecimal digits in lower case, as `git rev-parse` prints them",
    r"^[A-Z]{3}$": "write three capital letters, such as EUR",
    r"^[a-z0-9][-a-z0-9.]{1,61}[a-z0-9]$": "use 3 to 63 lower-case letters, digits, hyphens and dots, such as gavel",
    r"^[A-Za-z0-9][-\w.]*/[A-Za-z0-9][-\w.]*$": "write owner/name, such as Qwen/Qwen3-8B",
    r"^[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?$": "name a Python package as pip does: letters, digits, hyphens, underscores "
    "and dots, such as my-models",
    r"^[0-9][-\w.+!]*$": 'give the exact version, such as "1.0.2"',
    r"\.gguf$": "name a file that ends in .gguf, such as model.gguf",
    r"^(s3://[a-z0-9][-a-z0-9.]{1,61}[a-z0-9]/\S+|file:///\S+)$": "give a bucket and a folder in it, such as "
    "s3://gavel/models/first, or an absolute folder, such as file:///models/first",
}
"""By pattern. A test sees that each one of the specification is here."""
