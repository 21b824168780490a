"""The file that a warden's interpreter is started with: ``python -I -S -B start.py OPTIONS``."""

import sys
from pathlib import Path

if __name__ == "__main__":
    root = str(Path(__file__).resolve().parents[3])
    sys.path.insert(0, root)
    from components.sandbox.runner import serve

    sys.path.remove(root)
    serve.main()
