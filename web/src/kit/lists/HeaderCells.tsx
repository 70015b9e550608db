import { ArrowDown, ArrowUp } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Column, DataTableProps } from './DataTable';
import styles from './table.module.css';

/** Returns the next order of a column: descending first for the one that is not sorted yet. */
export function nextSort(current: string | undefined, name: string): string {
  return current === name ? `-${name}` : name;
}

function ariaSort(sort: string | undefined, name: string | undefined) {
  if (name === undefined || sort === undefined) return undefined;
  if (sort === name) return 'ascending' as const;
  return sort === `-${name}` ? ('descending' as const) : undefined;
}

interface SortProps<Row> {
  column: Column<Row>;
  sort: string | undefined;
  onSort: (sort: string) => void;
}

function SortButton<Row>({ column, sort, onSort }: SortProps<Row>) {
  const name = column.sort ?? '';
  const Icon = sort === name ? ArrowUp : ArrowDown;
  return (
    <button type="button" className={styles.sort} onClick={() => onSort(nextSort(sort, name))}>
      {column.header}
      {(sort === name || sort === `-${name}`) && <Icon size={14} aria-hidden />}
    </button>
  );
}

export function HeaderCells<Row>({ columns, selection, sort, onSort }: DataTableProps<Row>) {
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
          key={column.id}
          scope="col"
          className={column.hideBelow && styles[column.hideBelow]}
          style={{ width: column.width }}
          aria-sort={ariaSort(sort, column.sort)}
        >
          {column.sort !== undefined && onSort ? (
            <SortButton column={column} sort={sort} onSort={onSort} />
          ) : (
            column.header
          )}
        </th>
      ))}
    </>
  );
}
