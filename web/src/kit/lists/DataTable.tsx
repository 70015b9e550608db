import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Column, sortDirection } from './columns';
import { HeadCell } from './HeadCell';

interface Props<Row> {
  /** What the table shows, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  /** The table scrolls sideways where there is less room. By default 640, or nothing if columns hide. */
  minWidth?: number;
  sort?: string | undefined;
  onSort?: (sort: string) => void;
}

const MIN_WIDTH = 640;

function cellProps<Row>({ align, hideBelow }: Column<Row>) {
  return { ta: align ?? ('start' as const), ...(hideBelow && { visibleFrom: hideBelow }) };
}

/** A table whose columns may be sorted by the API. It scrolls by itself on narrow screens. */
export function DataTable<Row>({
  label,
  columns,
  rows,
  rowKey,
  sort,
  onSort,
  ...rest
}: Props<Row>) {
  const { minWidth = columns.some(({ hideBelow }) => hideBelow) ? 0 : MIN_WIDTH } = rest;
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      type="native"
      role="region"
      aria-label={label}
      // What scrolls has to be reachable by keyboard.
      tabIndex={0}
      pos="relative"
    >
      <Table>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th
                key={column.key}
                {...cellProps(column)}
                w={column.width}
                fz="xs"
                c="dimmed"
                aria-sort={onSort && sortDirection(sort, column.sort)}
              >
                <HeadCell column={column} sort={sort} onSort={onSort} />
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, index) => (
            <Table.Tr key={rowKey(row)}>
              {columns.map((column) => (
                <BodyCell key={column.key} column={column}>
                  {column.cell(row, index)}
                </BodyCell>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function BodyCell<Row>({ column, children }: { column: Column<Row>; children: ReactNode }) {
  const props = cellProps(column);
  if (!column.heads) return <Table.Td {...props}>{children}</Table.Td>;
  return (
    <Table.Th {...props} scope="row" fw="normal">
      {children}
    </Table.Th>
  );
}
