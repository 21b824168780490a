"""``python -m components.bias.scripted``, see :mod:`components.bias.scripted.cli`."""

import sys

from components.bias.scripted import main

sys.exit(main(sys.argv[1:]))
