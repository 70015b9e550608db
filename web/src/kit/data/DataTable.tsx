import { Group, Table, UnstyledButton } from '@mantine/core';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

export interface Column<Row> {
  key: string;
  title: string;
  /** Shown instead of the title. */
  head?: ReactNode;
  cell: (row: Row) => ReactNode;
  /** Numbers stand at the end. */
  align?: 'end';
  /** The name that the API sorts by. */
  sort?: string;
  width?: number | string;
  /** The cell that names the row. */
  heads?: boolean;
}

interface Props<Row> {
  /** What the table shows, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** The table scrolls sideways where there is less room. */
  minWidth?: number;
  sort?: string | undefined;
  onSort?: (sort: string) => void;
}

interface HeadProps<Row> {
  column: Column<Row>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}

function Head<Row>({ column, sort, onSort }: HeadProps<Row>) {
  const { t } = useTranslation('kit/data');
  const name = column.sort;
  const justify = column.align === 'end' ? 'flex-end' : 'flex-start';
  const common = { ta: column.align, w: column.width, fz: 'xs', c: 'dimmed' } as const;
  if (name === undefined || !onSort)
    return <Table.Th {...common}>{column.head ?? column.title}</Table.Th>;
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
  return (
    <Table.Th {...common} aria-sort={direction}>
      <UnstyledButton
        fz="xs"
        fw={700}
        w="100%"
        aria-label={t('sort_by', { name: column.title })}
        onClick={() => onSort(direction === 'ascending' ? `-${name}` : name)}
      >
        <Group gap={4} wrap="nowrap" justify={justify}>
          {column.title}
          {direction === 'ascending' && <ArrowUp size={12} aria-hidden />}
          {direction === 'descending' && <ArrowDown size={12} aria-hidden />}
        </Group>
      </UnstyledButton>
    </Table.Th>
  );
}

/** A table whose columns may be sorted by the API. It scrolls by itself on narrow screens. */
export function DataTable<Row>(props: Props<Row>) {
  const { label, columns, rows, rowKey, minWidth = 640, sort, onSort } = props;
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
              <Head key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)}>
              {columns.map((column) => {
                const Cell = column.heads ? Table.Th : Table.Td;
                return (
                  <Cell
                    key={column.key}
                    ta={column.align}
                    {...(column.heads && {
                      scope: 'row',
                      fw: 'normal',
                      ta: 'start',
                    })}
                  >
                    {column.cell(row)}
                  </Cell>
                );
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
