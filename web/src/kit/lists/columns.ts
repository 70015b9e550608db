import type { ReactNode } from 'react';

/** A column of `DataTable` and `VirtualTable`. */
export interface Column<Row> {
  key: string;
  title: string;
  /** Shown instead of the title. */
  head?: ReactNode;
  cell: (row: Row, index: number) => ReactNode;
  /** Numbers stand at the end. */
  align?: 'end';
  /** The name that `sort` of the API has for it. */
  sort?: string;
  width?: number | string;
  /** The column is left out when the window is narrower. */
  hideBelow?: 'sm' | 'md';
  /** The cell that names the row. */
  heads?: boolean;
}

/** Returns the next order of a column: ascending first for the one that is not sorted yet. */
export function nextSort(sort: string | undefined, name: string): string {
  return sort === name ? `-${name}` : name;
}

/** Returns the order of a column for `aria-sort`; undefined for one that cannot be sorted. */
export function sortDirection(sort: string | undefined, name: string | undefined) {
  if (name === undefined) return undefined;
  if (sort === name) return 'ascending';
  return sort === `-${name}` ? 'descending' : 'none';
}
