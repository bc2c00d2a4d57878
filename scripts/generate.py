"""``clalfred-generate``: generates a tier of episodes ahead of its first use."""

from __future__ import annotations

import click

from clalfred.scripts.common import COUNT, check_names, clear_errors, version_option

EPILOG = """
\b
Examples:
  clalfred-generate small            into the cache, where commands find it
  clalfred-generate full --workers 8
  clalfred-generate small --verify   check every byte of an existing tier
"""


@click.command(epilog=EPILOG)
@version_option
@click.argument("tier")
@click.option("--workers", type=COUNT, help="Processes that generate.  [default: one per core]")
@click.option("--cache", type=click.Path(), help="Folder.  [default: the user's cache]")
@click.option("--verify", is_flag=True, help="Only check an existing tier.")
@clear_errors
def main(tier: str, workers: int | None, cache: str | None, verify: bool) -> None:
    """Generate the episodes of a TIER: tiny, small or full."""
    from clalfred.scripts.data import source_table
    from gym_clalfred.data.quotas import TIERS
    from gym_clalfred.data.tiers import tier_folder, tier_source, verify_tier
    from gym_clalfred.errors import DataError

    check_names(tier=tier)
    folder = tier_folder(TIERS[tier], cache)
    if verify:
        if not verify_tier(tier, cache=cache):
            where = "" if cache is None else f" --cache {cache}"
            raise DataError(
                f"{folder}: tier {tier} is not there for this release, or damaged; "
                f"make it with: clalfred-generate {tier}{where}"
            )
        click.echo(f"{folder}: complete and undamaged")
        return
    source = tier_source(tier, cache=cache, workers=workers)
    click.echo(source_table(source))
    click.echo(f"\nfolder  {folder}")


if __name__ == "__main__":
    main()
