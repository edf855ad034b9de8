"""The tables of remedies in the documentation: `python -m humanoid_control_cli.remedies_page PAGE`.

Rewrites the text between two marks; the rest of the page is written by hand.
"""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from humanoid_control_cli.remedies import TABLES
from humanoid_control_common.remedies import Remedy

BEGIN: Final = "<!-- remedies: written by humanoid_control_cli.remedies_page -->"
END: Final = "<!-- end of remedies -->"


def with_tables(page: str, tables: Mapping[str, Iterable[Remedy]] = TABLES) -> str:
    """Return the page with the tables as they are now. Raises ValueError without both marks."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page lacks '{BEGIN}' and '{END}'")
    sections = "\n\n".join(_section(title, table) for title, table in tables.items())
    return f"{before}{BEGIN}\n\n{sections}\n\n{END}{after}"


def _section(title: str, table: Iterable[Remedy]) -> str:
    rows = ["| symptom | what it means | what to do |", "| --- | --- | --- |"]
    rows += [f"| {it.symptom} | {it.meaning} | {it.fix} |".replace("\n", " ") for it in table]
    return f"### {title}\n\n" + "\n".join(rows)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
