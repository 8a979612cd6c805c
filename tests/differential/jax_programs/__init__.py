"""JAX's public functions as tables of calls: every row becomes programs of several element
types and transformations."""
