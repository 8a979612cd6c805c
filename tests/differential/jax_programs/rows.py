"""All tables together; a public function of JAX that has neither a row nor a reason to
be left out is an error."""

from jax_programs import lax_functions, linear_algebra, networks, numpy_arrays, numpy_math, science

TABLES = ([numpy_math.NUMPY, lax_functions.LAX, lax_functions.LINALG] + science.TABLES + networks.TABLES
          + linear_algebra.TABLES)


def all_rows():
    return [row for table in TABLES + [numpy_arrays.AT] for row in table.rows]


def left_out():
    return {f'{table.module}.{name}': why for table in TABLES for name, why in table.left_out.items()}


def missing():
    return [f'{table.module}.{name}' for table in TABLES for name in table.missing()]
