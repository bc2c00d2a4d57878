"""Tables of texts for a terminal and Markdown: rows of cells, the first of them the head."""

from __future__ import annotations

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]

#: Tables for a terminal are not wider where columns can go below.
TEXT_WIDTH = 110


def aligned(rows: Rows) -> str:
    """Columns under each other, the first to the left and the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def fitted(rows: Rows, width: int = TEXT_WIDTH) -> str:
    """As ``aligned``, but columns that would not fit go below, again beside the first one."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    blocks: list[list[int]] = [[0]]
    for column in range(1, len(widths)):
        taken = sum(widths[one] + 2 for one in blocks[-1])
        if taken + widths[column] > width and len(blocks[-1]) > 1:
            blocks.append([0])
        blocks[-1].append(column)
    return "\n\n".join(aligned([[row[one] for one in block] for row in rows]) for block in blocks)


def markdown(rows: Rows) -> str:
    """As pages have it."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)
