"""The command lines whose output is approved: every command and each form of its answer."""

from __future__ import annotations

import shlex

GRID = """
activation = "tanh"
target = "sin"
alpha = "0.5,1,2"
beta = 1
ridge = "0.1,1"
spike = 1
bulk = 1
alignment = 0.8
"""
_MODEL = "--activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1"
_ISOTROPIC = f"{_MODEL} --spike 1 --bulk 1 --alignment 0.8"
_STEP = f"{_MODEL} --alpha0 2 --eta 3"
_RELU = "--activation relu --target sin --alpha 1.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 3 --bulk-model network"
_HELPED = ("report", "verify", "claims", "errata", "activation", "solve", "simulate", "compare", "bounds", "spectrum")
_LINES = (
    "--help",
    *(f"{name} --help" for name in (*_HELPED, "sweep")),
    f"solve {_ISOTROPIC}",
    f"solve {_ISOTROPIC} --json",
    f"solve {_ISOTROPIC} --certify",
    f"solve {_ISOTROPIC} --digits 20",
    f"solve {_ISOTROPIC} --noise 0.3 --loss huber:1",
    f"solve {_STEP}",
    f"solve {_STEP} --bulk-model network",
    f"solve {_RELU}",
    f"solve {_RELU} --json",
    "solve --activation tanh --target sin --alpha 0.5,1,2 --beta 1,2 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8",
    f'solve {_STEP} --readout "1:0.5,-0.5:0.5"',
    f"bounds {_ISOTROPIC}",
    f"bounds {_ISOTROPIC} --json",
    f"bounds {_ISOTROPIC} --loss absolute --noise 0.3",
    "spectrum --activation tanh --alpha 1.5 --beta 1 --spike 1 --bulk 1 --plot spectrum.svg",
    "spectrum --activation tanh --alpha 0.5 --beta 1 --spike 1 --bulk 1 --simulate 60 --plot spectrum.svg",
    "spectrum --activation tanh --target sign --alpha 1.5 --beta 1 --alpha0 1 --eta 5 --bulk-model network",
    f"simulate {_ISOTROPIC} --dimension 60 --seeds 4",
    f"simulate {_STEP} --kind network --dimension 60 --seeds 4 --json",
    f"compare {_ISOTROPIC} --dimensions 50,100 --seeds 6",
    "sweep grid.toml --out results --plot diagram.svg",
    'activation "z**3" --target sin',
    "activation relu --target sin --plot relu.svg",
    'activation "z*exp(-z**2/2)" --latex',
    "activation sin --digits 30 --orders 6 --json",
    "claims result-3-1.spike-strength",
    f"solve {_MODEL} --spike 1",
    f"solve {_ISOTROPIC} --alpha0 2",
    'activation "tanh(z"',
)  # fmt: skip
COMMANDS = tuple(tuple(shlex.split(line)) for line in _LINES)
