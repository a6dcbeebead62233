# %% [markdown]
# # A learning curve in ten lines
#
# A tanh student learns sin along a spike of strength 1 with alignment 0.8.

# %%
import numpy as np

import onestep

model = onestep.Model("tanh", "sin", alpha=1.0, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
curve = onestep.solve_batch(model, alpha=np.geomspace(0.1, 10.0, 25))
curve.plot()

# %% [markdown]
# Two parameters at once are curves, one for each value of the first, or a map.

# %%
alphas, ridges = np.geomspace(0.1, 10.0, 25), np.geomspace(1e-3, 10.0, 13)
grid = onestep.solve_batch(model, ridge=ridges[:, None], alpha=alphas)
grid.plot(kind="map")

# %% [markdown]
# The least error over the ridge lies between two bounds that know nothing of alpha and beta.

# %%
bounds = onestep.bounds(model)
print(bounds.lower, grid.test_error.min(), bounds.upper)
