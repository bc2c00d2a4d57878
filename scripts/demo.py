"""``make demo``: the main job from nothing to a table, plots and a video, in a few minutes."""

from __future__ import annotations

from scripts.train import main

if __name__ == "__main__":
    main(["--config", "demo", "--out", "runs/demo"])
