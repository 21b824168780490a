"""Finds what must never be committed: secrets, hosts of package registries, absolute paths of a developer's machine.

``python .ci/scan_tree.py [FILE ...]`` prints each finding and exits with 1 if there is one; without files it reads
everything that git tracks or would add.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PATTERNS = {
    "API key": re.compile(r"\bsk-[A-Za-z0-9_-]{8,}"),
    "access key": re.compile(r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"),
    "token": re.compile(r"\b(hf|ghp|gho|glpat|xoxb)[_-][A-Za-z0-9]{20,}"),
    "private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "password in a URL": re.compile(r"[a-z]+://[^/\s:@{}]+:[^/\s@{}]{3,}@"),
    "registry host": re.compile(r"\b(pypi\.org|files\.pythonhosted\.org|registry\.npmjs\.org|download\.pytorch\.org)"),
    "path of a machine": re.compile(r"(?<![\w./-])/(work|root|farm|home/[a-z]+)/"),
}
_OWN = Path(".ci/scan_tree.py")
_BINARY = frozenset({".png", ".parquet", ".gguf", ".safetensors", ".gz", ".ico"})
_ALLOW = "secrets: allow"
"""A line with this comment is passed over; it says why it is harmless."""


def findings(path: Path) -> Iterator[str]:
    """What is wrong with one file, a line each."""
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if _ALLOW in line:
            continue
        for kind, pattern in _PATTERNS.items():
            if pattern.search(line):
                # The line itself may be the secret, and is not repeated.
                yield f"{path}:{number}: {kind}"


def tracked_files() -> list[Path]:
    """Every text file that git tracks or would add."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [Path(name) for name in names]


def main(names: list[str]) -> int:
    """Scan, print, and return the exit status."""
    paths = [Path(name) for name in names] or tracked_files()
    found = [
        finding
        for path in paths
        if path != _OWN and path.suffix not in _BINARY and (ROOT / path).is_file()
        for finding in findings(ROOT / path)
    ]
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
