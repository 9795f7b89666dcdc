"""The source files of a package that a module imports, directly or through others.

A cached result is valid as long as the code that made it is the same. Imports are read from the source, also those
inside functions; nothing is executed. Imports under ``if TYPE_CHECKING:`` never run and do not count.
A string that is the name of a module, as those that are compiled are named, counts as an import of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_MODULE_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)+")


def imported_files(source: Path, module: str, package: Path) -> list[Path]:
    """Return a module's file and the files of the package that it imports, directly or through others, sorted.

    ``from package import name`` counts as an import of the module that the package gets ``name`` from, if the package's
    ``__init__.py`` holds nothing but imports. Otherwise a new baseline would invalidate the results of all others.

    Parameters
    ----------
    source : the file of the module to start from, in the package or not
    module : its name, to which relative imports are relative
    package : the folder of the package

    Examples
    --------
    >>> package = Path(__file__).parents[1]
    >>> found = imported_files(package / "metrics/slot_rmse.py", "orthostream.metrics.slot_rmse", package)
    >>> [path.relative_to(package).as_posix() for path in found]
    ['__init__.py', '_checks.py', '_typing.py', 'metrics/relative_rmse.py', 'metrics/slot_rmse.py']
    """
    walk = _Walk(package)
    walk.follow(module, source)
    return sorted(walk.found)


class _Walk:
    def __init__(self, package: Path) -> None:
        self.package = package
        self.found: set[Path] = set()
        self._trees: dict[Path, ast.Module] = {}

    def follow(self, module: str, path: Path) -> None:
        """Add a file and all that it imports."""
        if path in self.found:
            return
        self.found.add(path)
        self._add_parents(module)
        for imported, name in _imports(self._tree(path), module, path.name == "__init__.py"):
            self._add(imported, name)
        for imported in _module_names(self._tree(path)):
            file = self._file(imported)
            if file is not None and file.name != "__init__.py":
                self.follow(imported, file)

    def _add(self, module: str, name: str | None) -> None:
        """Add what ``from module import name`` imports; all of the module if there is no name."""
        if name is not None and (submodule := self._file(f"{module}.{name}")):
            self.follow(f"{module}.{name}", submodule)
            return
        path = self._file(module)
        if path is None:
            return
        if name is not None and path.name == "__init__.py":
            tree = self._tree(path)
            origin = self._origin(tree, module, name) if _only_imports(tree) else None
            if origin is not None:
                self._add_parents(module)
                self._add(*origin)
                return
        self.follow(module, path)

    def _add_parents(self, module: str) -> None:
        """Add the packages that contain a module, whose code runs before it, unless they hold nothing but imports."""
        parts = module.split(".")
        for count in range(1, len(parts)):
            parent = ".".join(parts[:count])
            path = self._file(parent)
            if path is not None and not _only_imports(self._tree(path)):
                self.follow(parent, path)

    def _tree(self, path: Path) -> ast.Module:
        if path not in self._trees:
            self._trees[path] = ast.parse(path.read_bytes())
        return self._trees[path]

    def _origin(self, tree: ast.Module, module: str, name: str) -> tuple[str, str] | None:
        """Return the module that a package imports a name from, and its name there; None if it does not import it."""
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                source = _absolute(node, module, is_package=True)
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return source, alias.name
                    path = self._file(source) if alias.name == "*" else None
                    found = None if path is None else self._origin(self._tree(path), source, name)
                    if found is not None:
                        return found
        return None

    def _file(self, module: str) -> Path | None:
        """Return the file of a module, None if it is not in the package."""
        first, *rest = module.split(".")
        if first != self.package.name:
            return None
        place = self.package.joinpath(*rest)
        return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


def _imports(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[str, str | None]]:
    """Yield module and name of each import; the name is None if the whole module is imported."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module, is_package)
            for alias in node.names:
                yield base, None if alias.name == "*" else alias.name
        elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for branch in node.orelse:
                yield from _imports(ast.Module([branch], []), module, is_package)
        else:
            yield from _imports(node, module, is_package)


def _module_names(tree: ast.AST) -> list[str]:
    """Return the strings that could be names of modules."""
    strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [value for value in strings if _MODULE_NAME.fullmatch(value)]


def _absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """Return the absolute name of the module that an import refers to."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    base = parts[: len(parts) - node.level + is_package]
    return ".".join([*base, *([node.module] if node.module else [])])


def _only_imports(tree: ast.Module) -> bool:
    """Tell whether a file holds nothing but imports, docstrings, and assignments to names such as ``__all__``."""
    return all(
        isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("__"))
        or (isinstance(node, ast.AugAssign) and ast.unparse(node.target).startswith("__"))
        for node in tree.body
    )
