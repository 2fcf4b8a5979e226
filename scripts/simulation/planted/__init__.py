"""The planted faults: each is a small change of the source, by search and replace.

There is a module for each layer of the code that is changed.
"""

from __future__ import annotations

from scripts.simulation.planted import actors, domain, store
from scripts.simulation.planted.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS = (*domain.MUTANTS, *actors.MUTANTS, *store.MUTANTS)
