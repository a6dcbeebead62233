# %% [markdown]
# # Does a finite network agree with the theory?
#
# Simulations at several dimensions are extrapolated to infinity, at the ratios that each realises; the verdict says
# which relative error would have been caught. With more seeds and larger dimensions that becomes small.

# %%
import onestep

network = onestep.Network("tanh", "sin", alpha=2.0, beta=1.0, ridge=0.1, alpha0=2.0, eta=1.0)
found = onestep.compare(network, dimensions=(40, 80, 160), seeds=4)
print(found.report.sentence)
found.plot()

# %% [markdown]
# All observables; `found` alone at the end of a cell is a table, and `found.to_frame()` gives a DataFrame where
# pandas is installed.

# %%
print(found.to_dict()["verdicts"])
