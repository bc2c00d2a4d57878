"""The paper's own numbers, for orientation: another simulator and other data than ours.

Kim, Seo, Choi, "Online Continual Learning for Interactive Instruction Following Agents", ICLR 2024:
``SR_last`` as shares, on AI2-THOR 2.1.0 with ALFRED's trajectories.
"""

from __future__ import annotations

SOURCE = "the paper's own, from another simulator (AI2-THOR 2.1.0) and other data: not comparable"

#: Method -> setup -> (valid seen, valid unseen), success rate after the last task in %.
_SR_LAST = {
    "finetuning": {"behavior-il": (9.51, 1.18), "environment-il": (8.72, 2.01)},
    "ewc++": {"behavior-il": (20.37, 8.50), "environment-il": (26.79, 11.61)},
    "er": {"behavior-il": (26.71, 9.43), "environment-il": (30.28, 11.44)},
    "mir": {"behavior-il": (30.27, 11.01), "environment-il": (27.50, 12.01)},
    "clib": {"behavior-il": (23.85, 8.26), "environment-il": (25.47, 10.46)},
    "der++": {"behavior-il": (29.15, 13.16), "environment-il": (28.25, 10.29)},
    "x-der": {"behavior-il": (28.76, 12.59), "environment-il": (28.30, 10.75)},
    "cama-without-dc": {"behavior-il": (30.54, 14.06), "environment-il": (31.55, 13.57)},
    "cama": {"behavior-il": (30.71, 13.64), "environment-il": (29.48, 14.60)},
    "joint": {"behavior-il": (60.47, 24.60), "environment-il": (56.25, 19.73)},
}

#: The same of imbalanced Environment-IL. The paper prints the same numbers for EWC++ and MIR in all
#: columns: a slip.
_IMBALANCED = {
    "ewc++": (27.58, 9.76),
    "er": (32.22, 11.80),
    "mir": (27.58, 9.76),
    "clib": (24.70, 8.24),
    "der++": (31.54, 12.20),
    "x-der": (31.10, 12.93),
    "cama-without-dc": (35.40, 14.19),
    "cama": (32.32, 14.53),
}


def paper_value(
    method: str, setup: str, split: str, metric: str, schedule: str = "disjoint"
) -> float | None:
    """What the paper reports, as a share; ``None`` where it does not or we do not have it.

    The paper has disjoint streams only.
    """
    pair = _SR_LAST.get(method, {}).get(setup)
    if setup == "imbalanced-environment-il":
        pair = _IMBALANCED.get(method)
    if metric != "SR_last" or schedule != "disjoint" or pair is None:
        return None
    return pair[0 if split == "seen" else 1] / 100
