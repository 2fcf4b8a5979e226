"""A contract for import-linter: what a package offers, it offers in its `__init__`.

A module inside a package named in `faces` is imported by that package only. Others import from the
package itself. `namespaces` lists modules that a face offers whole, to be used as `events.Spin`.
"""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class FacesContract(Contract):
    """Rooms know each other only through their `__init__`."""

    type_name = "faces"

    faces = fields.ListField(subfield=fields.StringField())
    namespaces = fields.SetField(subfield=fields.StringField(), required=False)

    # An instance has the values of the fields where the class has the fields; the types of
    # import-linter do not say so.

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find every import that goes past a face."""
        broken: list[str] = []
        for face in map(str, self.faces):  # type: ignore[call-overload]
            inside = graph.find_descendants(face)
            if not inside:
                raise ValueError(f"{face} has no modules: is it a package of the project?")
            for module in inside - set(self.namespaces or ()):  # type: ignore[call-overload]
                for importer in graph.find_modules_that_directly_import(module):
                    if importer != face and importer not in inside:
                        broken.append(f"{importer} imports {module}, past the face of {face}")
        return ContractCheck(kept=not broken, metadata={"broken": sorted(broken)})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each import."""
        for line in check.metadata["broken"]:
            output.print_error(line)
