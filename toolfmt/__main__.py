"""`python -m toolfmt` is the command `toolfmt`."""

import sys

from toolfmt.cli import main

sys.exit(main())
