"""Packaging of CL-ALFRED Gym; tool settings are in pyproject.toml."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+?)"', (HERE / "gym_clalfred/__init__.py").read_text())
assert VERSION is not None

COMMANDS = (
    "train",
    "evaluate",
    "record",
    "generate",
    "data",
    "doctor",
    "player",
    "play",
    "sweep",
    "report",
    "submit",
    "verify",
)

EXTRAS = {
    "thor": ["ai2thor>=5.0.0", "msgpack"],
    "minari": ["minari>=0.5", "pyarrow"],
    "play": ["pygame>=2.5", "starlette>=0.40", "uvicorn>=0.35", "websockets>=13"],
    "ray": ["ray>=2.9"],
    "bench": ["mujoco", "miniworld"],
    "docs": [
        "mkdocs>=1.6,<2",
        "mkdocs-material>=9.6,<10",
        "mkdocstrings[python]>=0.27",
        "latex2mathml>=3.77",
        "nbclient>=0.10",
        "ipykernel>=6.29",
    ],
}

#: Folders that stay at the top level but are imported as clalfred.agents, clalfred.cl, ...
FOLDERS = ("agents", "cl", "scripts")
PACKAGE_DIR = {f"clalfred.{name}": name for name in FOLDERS}
PACKAGES = find_packages(include=["gym_clalfred*"]) + [
    f"clalfred.{name}"
    for folder in FOLDERS
    for name in find_packages(include=[folder, f"{folder}.*"])
]

setup(
    name="cl-alfred-gym",
    version=VERSION.group(1),
    description="Continual learning of household tasks from instructions, on a laptop CPU",
    long_description=(HERE / "README.md").read_text(),
    long_description_content_type="text/markdown",
    license="MIT",
    author="The CL-ALFRED Gym authors",
    project_urls={
        "Paper": "https://openreview.net/forum?id=7M0EzjugaN",
        "ALFRED": "https://askforalfred.com",
    },
    keywords=(
        "continual learning, lifelong learning, embodied AI, instruction following, imitation "
        "learning, reinforcement learning, gymnasium, ALFRED, AI2-THOR"
    ),
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Science/Research",
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
    python_requires=">=3.10",
    packages=PACKAGES,
    package_dir=PACKAGE_DIR,
    package_data={
        "": ["py.typed", "*.txt", "*.html", "configs/*.yaml", "weights/*.safetensors"],
        "clalfred.agents": ["trained/*.yaml", "trained/*.zip"],
    },
    install_requires=[
        "gymnasium>=1.0",
        "numpy>=1.26",
        "numba>=0.60",
        "torch>=2.2",
        "stable-baselines3>=2.4",
        "safetensors>=0.4",
        "imageio>=2.31",
        "imageio-ffmpeg>=0.5",
        "pillow>=10.1",
        "click>=8.1",
        "tqdm>=4.66",
        "pyyaml>=6",
        "filelock>=3.12",
        "msgspec>=0.19",
        "matplotlib>=3.8",
        "tensorboard>=2.15",
    ],
    extras_require={
        **EXTRAS,
        "test": ["pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100", "httpx>=0.27"],
        "dev": ["ruff>=0.6", "mypy>=1.11", "types-PyYAML", "types-tqdm"],
    },
    entry_points={
        "console_scripts": [
            "clalfred = clalfred.scripts.commands:main",
            *(f"clalfred-{name} = clalfred.scripts.commands:{name}" for name in COMMANDS),
        ]
    },
)
