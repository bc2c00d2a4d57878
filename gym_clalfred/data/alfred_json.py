"""ALFRED's ``traj_data.json``: one reader and one writer for generated and real data."""

from gym_clalfred.data.alfred_reader import folder_name, parse_trajectory
from gym_clalfred.data.alfred_writer import complete_plan, dump_trajectory, encode_trajectory

__all__ = [
    "complete_plan",
    "dump_trajectory",
    "encode_trajectory",
    "folder_name",
    "parse_trajectory",
]
