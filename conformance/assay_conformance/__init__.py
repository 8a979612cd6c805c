"""Runs the conformance suite that `assay conformance make` writes on a backend (docs/conformance.md)."""

__version__ = '0.1.0'
