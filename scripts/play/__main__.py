"""``python -m clalfred.scripts.play``."""

from clalfred.scripts.play import main

if __name__ == "__main__":
    main()
