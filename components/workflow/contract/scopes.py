"""Where a node stands: its parents, and the functions around it."""

import ast
from typing import Final

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Scopes:
    """Args:
    tree: the program's.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._parents: dict[ast.AST, ast.AST] = {}
        self.names: dict[str, list[ast.Name]] = {}
        """Every place of a name."""
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
            if isinstance(node, ast.Name):
                self.names.setdefault(node.id, []).append(node)

    def parent(self, node: ast.AST) -> ast.AST:
        """The node around it; the module's is itself."""
        return self._parents.get(node, self.tree)

    def function(self, node: ast.AST) -> ast.AST:
        """The innermost function or lambda around it; the module where there is none."""
        found = self.parent(node)
        while not isinstance(found, _FUNCTIONS) and found is not self.tree:
            found = self.parent(found)
        return found

    def method(self, node: ast.AST) -> ast.AST:
        """The outermost function around it: names in it are taken for one scope, which is what people mean by one."""
        found = around = self.function(node)
        while around is not self.tree:
            found, around = around, self.function(around)
        return found
