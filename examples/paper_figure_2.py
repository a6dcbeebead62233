# %% [markdown]
# # The paper's Figure 2
#
# Networks that took one gradient step, beside the theory of the isotropic bulk and that of the network's own bulk. The
# function draws it with the printed settings; smaller sizes are faster and noisier.

# %%
from pathlib import Path

from onestep.reports.figures.figures import standalone
from onestep.reports.figures.paper import learning_curves_of_networks

figure = learning_curves_of_networks(batches=(0.5,), dimension=60, seeds=2)
print(figure.caption)

# %% [markdown]
# The drawing is an SVG file; every point of it comes as CSV beside it.

# %%
FOLDER = Path("build/examples")
FOLDER.mkdir(parents=True, exist_ok=True)
(FOLDER / "figure_2.svg").write_text(standalone(figure), encoding="utf-8")
(FOLDER / "figure_2.csv").write_text(figure.data, encoding="utf-8")
