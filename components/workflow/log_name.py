"""Names of the log of workflows, for those who need no more of it."""

from typing import Final

NAME: Final = "workflows.sqlite"
"""In a step's work folder. Its one table ``workflows`` has the columns of the WORKFLOWS contract, and ``time``:
the Unix time at which the row was written."""
TABLE: Final = "workflows.parquet"
"""In the folder that a step publishes."""
