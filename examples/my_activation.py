# %% [markdown]
# # What does one step learn with my activation?
#
# Any formula in z is an activation. The command `onestep activation "tanh(z) + z/4"` writes its page; here are the
# numbers behind it.

# %%
import onestep

student = onestep.activation("tanh(z) + z/4")
model = onestep.Model.from_gradient_step(student, "sin", alpha=2.0, beta=1.0, ridge=0.1, alpha0=4.0, eta=2.0)
print(model.spike, model.bulk, model.alignment)

# %%
after = onestep.solve(model)
initial = model.as_given().changed(spike=0.0, bulk=1.0, alignment=0.0)
print(onestep.solve(initial).test_error, after.test_error)

# %% [markdown]
# What it has learned along the spike, and the best ridge.

# %%
after.plot()

# %%
print(onestep.bounds(model).best_ridge())
