# %% [markdown]
# # A point of the phase diagram with rigorous error bounds
#
# Ball arithmetic encloses the only solution of the saddle point and every number that follows from it.

# %%
import onestep

model = onestep.Model("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
certificate = onestep.certify(model)
print(certificate.status)
print(certificate.texts()["test_error"])

# %% [markdown]
# The solution in double precision lies inside.

# %%
solution = onestep.solve(model)
assert certificate.balls is not None
gap = abs(float(certificate.balls.test_error.mid()) - solution.test_error)
assert gap <= float(certificate.balls.test_error.rad()) + solution.error_estimate + 1e-16
print(gap)
