"""The tables of reason codes in the documentation.

`python -m humanoid_control_cli.reason_codes_page PAGE` rewrites the text between two marks; the
rest of the page is written by hand.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from humanoid_control_cli.reason_codes import TABLES
from humanoid_control_common.rules.reasons import CodeTable

BEGIN: Final = "<!-- codes: written by humanoid_control_cli.reason_codes_page -->"
END: Final = "<!-- end of codes -->"


def with_tables(page: str, tables: Iterable[CodeTable] = TABLES) -> str:
    """Return the page with the tables as they are now. Raises ValueError without both marks."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page lacks '{BEGIN}' and '{END}'")
    sections = "\n\n".join(map(_section, tables))
    return f"{before}{BEGIN}\n\n{sections}\n\n{END}{after}"


def _section(table: CodeTable) -> str:
    rows = ["| code | meaning | remedy |", "| --- | --- | --- |"]
    rows += [f"| `{it.name}` | {it.meaning} | {it.remedy} |" for it in table]
    return f"## {table.title}\n\n" + "\n".join(rows)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
