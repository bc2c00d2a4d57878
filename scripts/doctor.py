"""``clalfred-doctor``: what works on this machine, with the fix for each thing that does not."""

from __future__ import annotations

import sys

import click

from gym_clalfred import __version__


# Not with clalfred.scripts.common: that imports what may be broken.
@click.command()
@click.version_option(__version__, message="cl-alfred-gym %(version)s")
def main() -> None:
    """Say what works on this machine and how to fix the rest.

    Exits with 1 if something is missing that the embedded backend needs.
    """
    from clalfred.cl.doctor import examine

    try:
        findings = examine()
    except KeyboardInterrupt:
        click.echo("\nInterrupted.", err=True)
        sys.exit(130)
    width = max(len(one.name) for one in findings)
    for one in findings:
        sign = "ok" if one.works else ("MISSING" if one.needed else "-")
        click.echo(f"{sign:8}{one.name:{width}}  {one.detail}")
        if not one.works and one.fix:
            click.echo(f"{'':8}{'':{width}}  fix: {one.fix}")
    if any(one.needed and not one.works for one in findings):
        sys.exit(1)


if __name__ == "__main__":
    main()
