"""The command lines whose answers are kept as samples: one of each form that a person reads."""

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
_TAUGHT = "--activation relu --target relu --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8"
_STEP = f"{_MODEL} --alpha0 2 --eta 3"
_RELU = "--activation relu --target sin --alpha 1.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 3 --bulk-model network"
_LINES = (
    f"solve {_ISOTROPIC}",
    f"solve {_ISOTROPIC} --json",
    f"solve {_ISOTROPIC} --certify",
    f"solve {_ISOTROPIC} --digits 20",
    f"solve {_ISOTROPIC} --noise 0.3 --loss huber:1",
    f"solve {_STEP} --bulk-model isotropic",
    f"solve {_STEP} --bulk-model network",
    f"solve {_RELU}",
    f"solve {_ISOTROPIC} --alpha 0.5,1,2 --beta 1,2",
    f"solve {_ISOTROPIC} --alpha 0.01,2 --width 200",
    f"solve {_TAUGHT} --bias learned",
    f"solve {_ISOTROPIC} --rows gaussian --bias 0.3:.5,-.3:.5",
    f"solve {_ISOTROPIC} --spike 1/0.5 --alignment 0.6/0.5",
    f"solve {_ISOTROPIC} --ridge 0 --alpha 1,2",
    f"bounds {_ISOTROPIC}",
    f"bounds {_ISOTROPIC} --loss absolute --noise 0.3",
    "spectrum --activation tanh --alpha 1.5 --beta 1 --spike 0 --bulk 1 --simulate 40",
    f"simulate {_ISOTROPIC} --dimension 60 --seeds 4",
    f"compare {_ISOTROPIC} --dimensions 50,100 --seeds 6",
    f"compare {_ISOTROPIC} --dimensions 30,60 --seeds 1",
    "sweep grid.toml --out results",
    'activation "z**3" --target sin',
    'activation "z*exp(-z**2/2)" --latex',
    "claims result-3-1.spike-strength",
)
COMMANDS = tuple(tuple(shlex.split(line)) for line in _LINES)
