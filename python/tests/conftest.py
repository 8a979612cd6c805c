"""Before JAX makes its devices: as many CPU devices as the plugin has, so that programs of several devices
have XLA:CPU beside them."""

import os

os.environ.setdefault("ASSAY_DEVICES", "4")
os.environ["XLA_FLAGS"] = " ".join(
    [os.environ.get("XLA_FLAGS", ""), "--xla_force_host_platform_device_count=4"]).strip()
