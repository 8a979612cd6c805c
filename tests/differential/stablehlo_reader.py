"""Reads StableHLO text with jaxlib in a process of its own, because its verifier ends the
process on some programs."""

from worker import Worker


def _serve(connection):
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)  # func among them
    while True:
        try:
            text = connection.recv()
        except EOFError:
            return
        context = ir.Context()
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        stablehlo.register_dialect(context)
        chlo.register_dialect(context)
        sdy.register_dialect(context)
        try:
            with context:
                ir.Module.parse(text).operation.verify()
            connection.send('')
        except Exception as error:  # jaxlib raises several kinds
            connection.send(str(error) or repr(error))


class Reader(Worker):

    def __init__(self):
        super().__init__(_serve)

    def error(self, text):
        """Why jaxlib refuses the text; empty if it takes it, None if reading it ends jaxlib's process."""
        return self.ask(text, if_ended=None)
