import { Box, Table } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Column<Row> {
  key: string;
  title: string;
  cell: (row: Row) => ReactNode;
  /** Left out on narrow screens. */
  wide?: boolean;
  align?: 'right';
}

interface Props<Row> {
  /** Says what the rows are. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
}

/** A table that scrolls sideways within its frame when the screen is narrow. */
export function ListTable<Row>({ label, columns, rows, rowKey }: Props<Row>) {
  const style = (column: Column<Row>) => ({
    ta: column.align ?? ('start' as const),
    ...(column.wide ? { visibleFrom: 'sm' as const } : {}),
  });
  return (
    <Box tabIndex={0} role="group" aria-label={label} style={{ overflowX: 'auto' }}>
      <Table fz="sm">
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.key} {...style(column)} c="dimmed" fw={500} fz="xs">
                {column.title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)}>
              {columns.map((column) => (
                <Table.Td key={column.key} {...style(column)}>
                  {column.cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}
