"""What an installed wheel must do where there is no compiler; tools/test_wheels runs it in each root. The
oracles are NumPy's residuals and XLA:CPU, beside which the plugin runs."""

import shutil

import jax
import jax.numpy as jnp
import numpy as np

import assay

for compiler in ("cc", "gcc", "g++", "clang", "c++"):
    assert shutil.which(compiler) is None, f"the root has a compiler, {compiler}"

devices = jax.devices("assay")
assert devices[0].platform == "assay" and devices[0].device_kind == "assay exact", devices

x = np.linspace(-9, 9, 1000, dtype=np.float32)
report = assay.check(lambda x: jnp.exp(x) / jnp.exp(x).sum(), x, profile="xla-cpu")
assert report.ok, report
wrong = assay.diff("HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] exponential(x) }",
                   [np.float32([0, 1])], [np.float32([1, 2.7])], profile="xla-cpu")
assert not wrong.ok, wrong

generator = np.random.default_rng(1)
a = generator.standard_normal((6, 6)).astype(np.float32)
spd = a @ a.T + np.eye(6, dtype=np.float32)


def near(found, wanted):
    assert np.max(np.abs(np.asarray(found) - wanted)) < 1e-4, (found, wanted)


with jax.default_device(devices[0]):
    q, r = jnp.linalg.qr(a)
    near(np.asarray(q) @ np.asarray(r), a)
    u, s, vt = jnp.linalg.svd(a)
    near(np.asarray(u) * np.asarray(s) @ np.asarray(vt), a)
    w, v = jnp.linalg.eigh(spd)
    near(np.asarray(v) * np.asarray(w) @ np.asarray(v).T, spd)
    near(np.sort_complex(np.asarray(jnp.linalg.eigvals(a))), np.sort_complex(np.linalg.eigvals(a)))
    lower = np.asarray(jnp.linalg.cholesky(spd))
    near(lower @ lower.T, spd)
    near(jnp.linalg.solve(spd, a), np.linalg.solve(spd, a))
    p, lower, upper = (np.asarray(part) for part in jax.scipy.linalg.lu(jnp.asarray(a)))
    near(p @ lower @ upper, a)
    t, z = (np.asarray(part) for part in jax.scipy.linalg.schur(jnp.asarray(a)))
    near(z @ t @ z.T, a)
print(f"jax {jax.__version__}: device, check, diff and 8 decompositions")
