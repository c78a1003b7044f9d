"""The public functions, classes, ufuncs and distributions of numpy, scipy and scikit-learn, each once."""

from __future__ import annotations

import importlib
import inspect
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

PACKAGES: dict[str, str] = {
    "numpy": """
        linalg fft random polynomial polynomial.polynomial polynomial.chebyshev polynomial.legendre
        polynomial.hermite polynomial.hermite_e polynomial.laguerre polynomial.polyutils ma strings char rec
        exceptions dtypes ctypeslib emath lib lib.stride_tricks lib.format lib.mixins
        lib.array_utils lib.introspect lib.npyio lib.scimath lib.recfunctions
    """,
    "scipy": """
        cluster.hierarchy cluster.vq constants datasets differentiate fft fftpack integrate interpolate io
        io.arff io.matlab io.wavfile linalg linalg.interpolative ndimage odr optimize optimize.elementwise
        signal signal.windows sparse sparse.linalg sparse.csgraph spatial spatial.distance
        spatial.transform special stats stats.contingency stats.mstats stats.qmc stats.sampling
    """,
    "sklearn": """
        base calibration cluster compose covariance cross_decomposition datasets decomposition
        discriminant_analysis dummy ensemble exceptions feature_extraction feature_extraction.image
        feature_extraction.text feature_selection frozen gaussian_process gaussian_process.kernels impute
        inspection isotonic kernel_approximation kernel_ridge linear_model manifold metrics
        metrics.cluster metrics.pairwise mixture model_selection multiclass multioutput naive_bayes
        neighbors neural_network pipeline preprocessing random_projection semi_supervised svm tree utils
        utils.class_weight utils.discovery utils.extmath utils.graph
        utils.metaestimators utils.multiclass utils.parallel utils.random utils.sparsefuncs
        utils.validation
    """,
}
"""Public subpackages in order of precedence: an object's first name is its canonical one. What a version
lacks is skipped; tests, and modules with side effects on import, are not listed."""


@dataclass(frozen=True)
class PublicObject:
    """One documented object of a library.

    Attributes:
        name: canonical qualified name, such as `scipy.sparse.linalg.svds`.
        module: the public subpackage, such as `scipy.sparse.linalg`.
        kind: function, class, exception, ufunc, distribution or object.
        docstring: the raw docstring.
        bases: public base classes of a class or of an instance's class.
        methods: public methods of a class.
        aliases: every public name of the same object.
    """

    name: str
    module: str
    kind: str
    docstring: str
    bases: tuple[str, ...] = ()
    methods: frozenset[str] = frozenset()
    aliases: list[str] = field(default_factory=list)

    @property
    def package(self) -> str:
        """The library: numpy, scipy or sklearn."""
        return self.name.partition(".")[0]


def public_objects() -> list[PublicObject]:
    """Return every documented public object once, in a fixed order; imports the libraries."""
    found: dict[int, PublicObject] = {}
    alive: list[Any] = []  # keeps ids unique: an id may be reused once its object is deleted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in _modules():
            for short, value in _members(module):
                name = f"{module.__name__}.{short}"
                alive.append(value)
                if id(value) in found:
                    found[id(value)].aliases.append(name)
                elif described := _describe(value, name, module.__name__):
                    found[id(value)] = described
    return list(found.values())


def _modules() -> Iterator[types.ModuleType]:
    for package, children in PACKAGES.items():
        for child in ("", *children.split()):
            try:
                yield importlib.import_module(f"{package}.{child}".rstrip("."))
            except (ImportError, AttributeError):  # another version, or a part that was not built
                continue


def _members(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public names and values of a module, sorted: its `__all__`, else what it defines."""
    listed = getattr(module, "__all__", None)
    names = (
        listed if listed is not None else [n for n, v in vars(module).items() if _is_defined_in(v, module)]
    )
    for name in sorted({n for n in names if not n.startswith("_")}):
        try:
            yield name, getattr(module, name)
        except (AttributeError, ImportError):
            continue


def _is_defined_in(value: Any, module: types.ModuleType) -> bool:
    return getattr(value, "__module__", None) == module.__name__


def _describe(value: Any, name: str, module: str) -> PublicObject | None:
    """Describe a value; None if it is not a documented object of this library."""
    docstring = getattr(value, "__doc__", None)
    kind = _kind(value)
    home = getattr(value, "__module__", None) or module
    foreign = kind != "ufunc" and home.partition(".")[0] != module.partition(".")[0]
    if kind is None or foreign or not isinstance(docstring, str) or not docstring.strip():
        return None
    cls = value if isinstance(value, type) else type(value)
    is_plain = kind in {"function", "ufunc"}
    methods = frozenset(n for n in dir(value) if not n.startswith("_")) if kind == "class" else frozenset()
    return PublicObject(
        name, module, kind, docstring, () if is_plain else _bases(cls, value), methods, [name]
    )


def _kind(value: Any) -> str | None:
    """Return the kind of a value; None for modules, constants and aliases of types."""
    has_docstring = getattr(value, "__doc__", None) != getattr(type(value), "__doc__", None)
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    if type(value).__name__ == "ufunc":
        return "ufunc"
    if inspect.isroutine(value) or type(value).__name__ in {
        "_ArrayFunctionDispatcher",
        "cython_function_or_method",
    }:
        return "function"
    if isinstance(value, types.ModuleType) or not callable(value) or not has_docstring:
        return None
    return "distribution" if hasattr(value, "rvs") or hasattr(value, "cdf") else "function"


def _bases(cls: type, value: Any) -> tuple[str, ...]:
    """Return the names of the public base classes; for an instance, also of its class."""
    hidden = {
        "object",
        "BaseException",
        "Exception",
        "ABC",
        "Generic",
        "Protocol",
        "ReprHTMLMixin",
        "rv_generic",
    }
    line = inspect.getmro(cls)[isinstance(value, type) :]
    names = [base.__name__ for base in line if base.__name__ not in hidden]
    return tuple(name for name in names if not name.startswith("_"))
