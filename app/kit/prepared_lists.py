"""Frequently requested lists. Their pages are read with prepared statements."""

from typing import Any

from sqlalchemy import ColumnElement, Select, asc, bindparam, desc, tuple_

from app.kit import tenancy
from app.kit.pagination import Page, PageRequest, PageStart, paginate_rows
from app.kit.periods import Column
from app.kit.prepared import Prepared


class PreparedList:
    """A list without filters in its default order, read with prepared statements.

    `statement` selects the rows, including the columns `key` and `unique`, and has the parameter
    `organization_id`. `total` is an expression for the length of the list
    (`counters.build_prepared_total`). The list is ordered by `key`, and then by the id `unique`.
    `key_type` is the PostgreSQL type of `key`.
    """

    def __init__(
        self,
        name: str,
        statement: Select[Any],
        total: ColumnElement[int],
        key: Column,
        unique: Column,
        key_type: str = "timestamptz",
    ) -> None:
        self._types = {str(key.key): key.type.python_type, str(unique.key): unique.type.python_type}
        first_select = statement.add_columns(total.label("page_total"))
        base_types = {"organization_id": "uuid", "page_limit": "int"}
        edge_types = {**base_types, "edge_key": key_type, "edge_id": "uuid"}
        edge = tuple_(
            bindparam("edge_key", type_=key.type), bindparam("edge_id", type_=unique.type)
        )
        sort_key = tuple_(key, unique)
        self._statements: dict[tuple[bool, bool], Prepared] = {}
        for descending, sort in ((True, desc), (False, asc)):
            rest_select = statement.where(sort_key < edge if descending else sort_key > edge)
            for is_first, unsorted in ((True, first_select), (False, rest_select)):
                sorted_select = unsorted.order_by(sort(key), sort(unique))
                self._statements[descending, is_first] = Prepared.from_select(
                    f"{name}_{sort.__name__}_{'first' if is_first else 'rest'}",
                    sorted_select.limit(bindparam("page_limit")),
                    **(base_types if is_first else edge_types),
                )

    def get_page(self, request: PageRequest) -> Page:
        """Return the requested page of the list.

        Raises 422 for `cursor` if the cursor does not belong to this list.
        """
        return paginate_rows(request, self._types, self._fetch)

    def _fetch(self, start: PageStart) -> tuple[list[Any], int | None]:
        statement = self._statements[start.descending, start.is_first]
        organization_id = str(tenancy.current_organization_id())
        values = [str(value) for value in start.values.values()]
        rows = statement.all(organization_id, start.limit, *values)
        if not start.is_first:
            return rows, None
        # The total is from the same snapshot: if the page is empty, the list is empty.
        return rows, int(rows[0].page_total) if rows else 0
