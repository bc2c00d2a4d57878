"""``clalfred-player``: stands in for AI2-THOR's Unity program."""

from __future__ import annotations

import os
import stat

#: Who started this process, read before the slow imports: see ``transport.Client``.
PARENT = os.getppid()

from collections.abc import Callable, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402

import click  # noqa: E402

from clalfred.scripts.common import clear_errors, version_option  # noqa: E402


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@version_option
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Store of imported ALFRED data whose rooms to use.",
)
@click.option(
    "--pipes", nargs=2, metavar="SERVER CLIENT", help="Attach to a waiting client's pipes."
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Where the waiting client serves HTTP."
)
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port of a client that waits for Unity over HTTP."
)
@click.option(
    "--legacy", is_flag=True, help="The client is AI2-THOR 2.1.0 (found out if started by it)."
)
@click.option(
    "--start-timeout",
    type=click.FloatRange(min=0.0),
    default=120.0,
    envvar="CLALFRED_THOR_START_TIMEOUT",
    show_default=True,
    help="Seconds to wait for the client.",
)
@click.option(
    "--client",
    "client_version",
    envvar="CLALFRED_PLAYER_CLIENT",
    help="Version of the client's ai2thor package: from 4 on, masks and depth are sent faster.",
)
@click.option("-screen-width", "width", type=int, default=300, hidden=True)
@click.option("-screen-height", "height", type=int, default=300, hidden=True)
@clear_errors
def main(
    data: Path | None,
    pipes: tuple[str, str] | None,
    host: str,
    port: int | None,
    legacy: bool,
    start_timeout: float,
    client_version: str | None,
    width: int,
    height: int,
) -> None:
    """Serves the embedded household to a program that was written for AI2-THOR.

    Give it to AI2-THOR as its executable: Controller(local_executable_path="clalfred-player").
    Unity's own options are accepted and, but for the size of the screen, ignored.
    """
    from gym_clalfred.errors import BadInputError
    from gym_clalfred.simulator.embedded.generator import make_room
    from gym_clalfred.simulator.embedded.room_model import Room
    from gym_clalfred.simulator.player.faults import Kind, fault_from_environment, misbehave
    from gym_clalfred.simulator.player.player import Player
    from gym_clalfred.simulator.player.queries import SCENE_NUMBERS
    from gym_clalfred.simulator.player.rehearsal import rehearse
    from gym_clalfred.simulator.player.transport import (
        Client,
        Http,
        Pipes,
        Transport,
        ending_with,
        transport_from_environment,
    )
    from gym_clalfred.simulator.player.world import Recorded, no_recording

    if client_version is not None and not client_version.split(".")[0].isdecimal():
        raise BadInputError(f"client {client_version!r}: expected a version such as 5.0.0")
    fault = fault_from_environment()
    if fault is not None and fault.kind is Kind.DEAF and fault.happens(fault.at):
        misbehave(fault.kind)
    client = Client(PARENT, start_timeout)
    transport: Transport
    if pipes is not None:
        for path in pipes:
            if not os.path.exists(path):
                raise BadInputError(f"{path}: no such pipe; the client makes both")
            if not stat.S_ISFIFO(os.stat(path).st_mode):
                raise BadInputError(f"{path}: expected a named pipe, found something else")
        transport = Pipes(*pipes, client)
    elif port is not None:
        transport = Http(host, port, os.environ.get("AI2THOR_CLIENT_TOKEN", ""), client)
        click.echo(f"Looking for a client at {host}:{port}.", err=True)
    else:
        transport, legacy = transport_from_environment(client)
    rooms: Callable[[int], Room] = make_room
    recorded: Recorded = no_recording
    numbers: Sequence[int] = SCENE_NUMBERS
    if data is not None:
        from gym_clalfred.data.store import AlfredStore

        store = AlfredStore(data)
        rooms, numbers = store.lived_in_room, store.info.rooms
        recorded = store.recorded_poses
    # The client first: compiling and loading take long, and are in vain without one.
    try:
        if not transport.connect():
            return
        with ending_with(transport):
            rehearse()
            player = Player(
                transport, legacy, rooms, width, height, fault, numbers, client_version, recorded
            )
        player.serve()
    finally:
        transport.close()


if __name__ == "__main__":
    main(prog_name="clalfred-player")
