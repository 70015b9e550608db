import { Group, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useCallback, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Loading } from '@/kit/components/Loading';
import { type Column, sortDirection } from './columns';
import { HeadCell } from './HeadCell';
import styles from './VirtualTable.module.css';

export interface Selection {
  has: (id: string) => boolean;
  toggle: (id: string, range: boolean) => void;
  toggleAll: () => void;
  all: boolean;
  some: boolean;
}

export interface VirtualTableProps<Row> {
  /** The name of the table for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  total: number;
  rowId: (row: Row) => string;
  rowName: (row: Row) => string;
  rowHeight?: number;
  hasMore?: boolean;
  isFetching?: boolean;
  /** Why rows could not be read: without any, nobody knows whether there are none. */
  error?: unknown;
  loadMore?: () => void;
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  selection?: Selection | undefined;
  /** The row that keys act on. */
  current?: number | undefined;
  empty?: ReactNode;
}

const AHEAD = 40;

function useRows<Row>({ rows, rowHeight = 48, current, ...props }: VirtualTableProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null);
  // The rows are few and cheap; the compiler does not matter here.
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 6,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { hasMore, isFetching, loadMore } = props;
  useEffect(() => {
    if (hasMore && !isFetching && last >= rows.length - AHEAD) loadMore?.();
  }, [hasMore, isFetching, last, rows.length, loadMore]);
  useEffect(() => {
    if (current !== undefined) virtual.scrollToIndex(current);
  }, [current, virtual]);
  return { scroller, items, size: virtual.getTotalSize() };
}

/** A table of rows that are drawn when they come into view, and read when the end comes near. */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { t } = useTranslation();
  const { columns, rows, selection, rowHeight = 48 } = props;
  const { scroller, items, size } = useRows(props);
  const toggle = useLatestToggle(selection);
  if (rows.length === 0 && props.error) return null;
  if (rows.length === 0 && !props.isFetching) return <>{props.empty}</>;
  if (rows.length === 0) return <Loading />;
  const before = items[0]?.start ?? 0;
  const after = size - (items.at(-1)?.end ?? 0);
  const span = columns.length + (selection ? 1 : 0);
  return (
    <div>
      <div
        ref={scroller}
        className={styles.scroller}
        role="region"
        aria-label={props.label}
        // A region that scrolls must be reachable with the keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
      >
        <table className={styles.table} aria-label={props.label} aria-rowcount={props.total + 1}>
          <thead>
            <tr aria-rowindex={1}>
              <HeaderCells {...props} />
            </tr>
          </thead>
          <tbody>
            <Spacer height={before} span={span} />
            {items.map(({ index }) => {
              const row = rows[index];
              if (row === undefined) return null;
              const id = props.rowId(row);
              return (
                <BodyRow
                  key={index}
                  {...{ row, id, index, columns, toggle }}
                  name={props.rowName(row)}
                  height={rowHeight}
                  selected={selection?.has(id)}
                  isCurrent={props.current === index}
                />
              );
            })}
            <Spacer height={after} span={span} />
          </tbody>
        </table>
      </div>
      <Group justify="space-between" mt={4}>
        <Text size="xs" c="dimmed" role="status">
          {t('list.shown', { count: props.total, shown: rows.length })}
        </Text>
        {props.isFetching && (
          <Text size="xs" c="dimmed">
            {t('loading')}
          </Text>
        )}
      </Group>
    </div>
  );
}

function Spacer({ height, span }: { height: number; span: number }) {
  if (height <= 0) return null;
  return (
    <tr className={styles.spacer} aria-hidden>
      <td colSpan={span} style={{ height }} />
    </tr>
  );
}

/** One function for all renderings, so that rows which stay are not drawn again. */
function useLatestToggle(selection: Selection | undefined) {
  const latest = useRef(selection);
  useEffect(() => {
    latest.current = selection;
  }, [selection]);
  return useCallback((id: string, range: boolean) => latest.current?.toggle(id, range), []);
}

interface BodyRowProps<Row> {
  row: Row;
  id: string;
  name: string;
  index: number;
  height: number;
  columns: readonly Column<Row>[];
  /** Undefined in a table without a selection. */
  selected: boolean | undefined;
  isCurrent: boolean;
  toggle: (id: string, range: boolean) => void;
}

function PlainRow<Row>({ row, id, index, columns, selected, ...props }: BodyRowProps<Row>) {
  const { t } = useTranslation();
  return (
    <tr
      className={styles.row}
      aria-rowindex={index + 2}
      data-selected={selected ? true : undefined}
      data-current={props.isCurrent ? true : undefined}
      style={{ height: props.height }}
    >
      {selected !== undefined && (
        <td className={styles.check}>
          <input
            type="checkbox"
            checked={selected}
            aria-label={t('list.select', { name: props.name })}
            onChange={() => undefined}
            onClick={(event) => props.toggle(id, event.shiftKey)}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.key} className={column.hideBelow && styles[column.hideBelow]}>
          {column.cell(row, index)}
        </td>
      ))}
    </tr>
  );
}

const BodyRow = memo(PlainRow) as typeof PlainRow;

function HeaderCells<Row>({ columns, selection, sort, onSort }: VirtualTableProps<Row>) {
  const { t } = useTranslation();
  return (
    <>
      {selection && (
        <th className={styles.check} scope="col">
          <input
            type="checkbox"
            checked={selection.all}
            ref={(input) => {
              if (input) input.indeterminate = selection.some && !selection.all;
            }}
            aria-label={t('list.select_all')}
            onChange={selection.toggleAll}
          />
        </th>
      )}
      {columns.map((column) => (
        <th
          key={column.key}
          scope="col"
          className={column.hideBelow && styles[column.hideBelow]}
          style={{ width: column.width }}
          aria-sort={onSort && sortDirection(sort, column.sort)}
        >
          <HeadCell column={column} sort={sort} onSort={onSort} />
        </th>
      ))}
    </>
  );
}
