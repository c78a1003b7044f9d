"""Functions that are only ever a part of others: optimised, but never turned into machine code of their own.

numba turns each function that it compiles into machine code. The code of an inner function never runs: every
caller has a copy of the function, and optimises it once more together with its own code.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary


class Library(JITCodeLibrary):
    """The optimised code of a function in LLVM's language, to be copied into its callers."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)  # type: ignore[no-untyped-call]

    def _finalize_final_module(self) -> None:
        """Stop here, where numba makes machine code."""
        # Addresses of this process forbid to cache a function.
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return zero: no machine code."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0

    @property
    def codegen(self) -> Any:
        """What numba gives the environment of a function to, once it has an address."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: inner functions use no Python objects, so no code reads their environment."""

    def serialize_using_object_code(self) -> Any:
        """Return what is cached, for callers that another process compiles."""
        return self.serialize_using_bitcode()  # type: ignore[no-untyped-call]
