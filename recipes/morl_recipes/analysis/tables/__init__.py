"""The paper's tables from a result store, with our numbers and the paper's side by side."""

from morl_recipes.analysis.tables.cells import Cell, Table
from morl_recipes.analysis.tables.formats import Format
from morl_recipes.analysis.tables.preferences import preference_tables
from morl_recipes.analysis.tables.render import Kind, render_table
from morl_recipes.analysis.tables.summary import summary_table

__all__ = ["Cell", "Format", "Kind", "Table", "preference_tables", "render_table", "summary_table"]
