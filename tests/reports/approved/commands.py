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
# Other files of sweeps, each drawn: panels, pairs of networks, and narrow ones of which one has no solution.
GRIDS = {
    "three axes": GRID.replace('"0.5,1,2"', '"0.5,5"')
    .replace('"0.1,1"', '"0.01,10"')
    .replace("alignment = 0.8", 'alignment = "0.5,0.9"'),
    "pairs of networks": 'kind = "simulation"\nmode = "zip"\n'
    + GRID.replace('"0.5,1,2"', '"0.5,2"')
    + "[simulation]\ndimension = 30\nseeds = 2\n",
    "without a solution": "width = 5\n" + GRID.replace('"0.1,1"', '"0,1"'),
}
_MODEL = "--activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1"
_ISOTROPIC = f"{_MODEL} --spike 1 --bulk 1 --alignment 0.8"
_TAUGHT = "--activation relu --target relu --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8"
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
    f"simulate {_ISOTROPIC} --alpha 1,2 --dimension 40 --seeds 3",
    f"simulate {_ISOTROPIC} --alpha 1,2 --dimension 40 --seeds 3 --json",
    f"simulate {_TAUGHT} --bias learned --dimension 40 --seeds 3",
    f"simulate {_ISOTROPIC} --kind equivalent --dimension 40 --seeds 3",
    f"simulate {_STEP} --kind network --dimension 40 --seeds 3 --initial-overlap 0.1 --gradient-steps 2",
    f"simulate {_ISOTROPIC} --dimension 40 --seeds 3 --inputs student-t --directions sparse",
    f"compare {_ISOTROPIC} --alpha 1,2 --dimensions 30,60 --seeds 3",
    f"compare {_ISOTROPIC} --dimensions 30,60 --seeds 3 --json",
    f"compare {_ISOTROPIC} --dimensions 30 --seeds 3",
    f"compare {_ISOTROPIC} --dimensions 30,60 --seeds 1",
    f"bounds {_ISOTROPIC} --alpha 1,2 --width 300",
    f"bounds {_ISOTROPIC} --alpha 1,2 --json",
    f"solve {_ISOTROPIC} --alpha 1.5:1.51 --certify",
    f"solve {_ISOTROPIC} --alpha 1.5:1.51 --certify --json",
    f"solve {_ISOTROPIC} --certify --json",
    f"solve {_ISOTROPIC} --digits 20 --json",
    f"solve {_ISOTROPIC} --alpha 1,2 --ridge 0.1,1 --json",
    f"solve {_ISOTROPIC} --alpha 0.01,2 --width 200",
    f"solve {_TAUGHT} --bias learned",
    f"solve {_ISOTROPIC} --rows gaussian --bias 0.3:.5,-.3:.5",
    f"solve {_ISOTROPIC} --spike 1/0.5 --alignment 0.6/0.5",
    f"solve {_ISOTROPIC} --target sign --loss logistic --json",
    f"solve {_ISOTROPIC} --ridge 0 --alpha 1,2",
    f"solve {_ISOTROPIC} --ridge 0 --alpha 1,2 --json",
    "spectrum --activation tanh --alpha 1.5 --beta 1 --spike 1 --bulk 1 --json",
    "sweep grid.toml --out results --json",
    "activation tanh --json",
    "activation he2",
    "activation he2 --latex",
    'activation "z*tanh(z)" --digits 10 --orders 3 --spike 1.5 --bulk 0.8',
    f"solve {_MODEL} --spike 1",
    f"solve {_ISOTROPIC} --alpha0 2",
    'activation "tanh(z"',
)  # fmt: skip
COMMANDS = tuple(tuple(shlex.split(line)) for line in _LINES)
