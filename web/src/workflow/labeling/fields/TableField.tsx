import { ActionIcon, Menu } from '@mantine/core';
import { BetweenHorizontalStart, EllipsisVertical, Trash2 } from 'lucide-react';
import { memo, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditor, useEditorState } from '../model/context';
import {
  type Column,
  countRows,
  type Field,
  isUnconfirmed,
  type LocalTag,
  topKey,
} from '../model/tags';
import classes from './Fields.module.css';
import { ValueInput } from './ValueInput';

interface CellProps {
  table: Field;
  column: Column;
  row: number;
  tags: readonly LocalTag[];
}

function Cell({ table, column, row, tags }: CellProps) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useEditor();
  const name = `${table.key}.${column.key}`;
  const own = tags.filter((tag) => tag.field === name);
  const count = column.multiple && !editor.readOnly ? own.length + 1 : Math.max(1, own.length);
  return (
    <td data-type={column.type}>
      {Array.from({ length: count }, (_, index) => (
        <ValueInput
          key={index}
          compact
          slot={{ field: name, row, index }}
          tag={own[index]}
          definition={column}
          label={t('table.cell', { column: column.label, row: row + 1 })}
        />
      ))}
    </td>
  );
}

function RowMenu({ table, row }: { table: Field; row: number }) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useEditor();
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          c="dimmed"
          tabIndex={-1}
          aria-label={t('table.actions', { row: row + 1 })}
        >
          <EllipsisVertical size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<BetweenHorizontalStart size={14} />}
          onClick={() => editor.insertRow(table.key, row)}
        >
          {t('table.insert')}
        </Menu.Item>
        <Menu.Item
          leftSection={<Trash2 size={14} />}
          onClick={() => editor.removeRow(table.key, row)}
        >
          {t('table.remove')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

interface RowProps {
  table: Field;
  row: number;
  tags: readonly LocalTag[];
  isNew: boolean;
}

function isSameRow(before: RowProps, after: RowProps): boolean {
  return (
    before.table === after.table &&
    before.row === after.row &&
    before.isNew === after.isNew &&
    before.tags.length === after.tags.length &&
    before.tags.every((tag, at) => tag === after.tags[at])
  );
}

const Row = memo(function Row({ table, row, tags, isNew }: RowProps) {
  const editor = useEditor();
  return (
    <tr data-new={isNew || undefined}>
      <th scope="row">{isNew ? '+' : row + 1}</th>
      {table.columns.map((column) => (
        <Cell key={column.key} table={table} column={column} row={row} tags={tags} />
      ))}
      {!editor.readOnly && <td>{!isNew && <RowMenu table={table} row={row} />}</td>}
    </tr>
  );
}, isSameRow);

function useRows(tags: readonly LocalTag[], table: string): LocalTag[][] {
  return useMemo(() => {
    const rows: LocalTag[][] = Array.from({ length: countRows(tags, table) }, () => []);
    for (const tag of tags) if (tag.row !== null) rows[tag.row]?.push(tag);
    return rows;
  }, [tags, table]);
}

function Problems({ tags }: { tags: readonly LocalTag[] }) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useEditor();
  const problems = useEditorState((state) => state.problems);
  const missing = useEditorState((state) => state.missing);
  const own = tags.filter((tag) => problems.has(tag.id));
  const columns = [...missing].filter(
    (name) => name.includes('.') && tags.some((tag) => topKey(tag.field) === topKey(name)),
  );
  if (own.length === 0 && columns.length === 0) return null;
  const labelOf = (name: string) => editor.definitions.get(name)?.label ?? name;
  return (
    <ul className={classes.problems}>
      {own.map((tag) => (
        <li key={tag.id}>
          {t('table.cell', { column: labelOf(tag.field), row: (tag.row ?? 0) + 1 })}:{' '}
          {problems.get(tag.id)}
        </li>
      ))}
      {columns.map((name) => (
        <li key={name}>{t('table.missing', { column: labelOf(name) })}</li>
      ))}
    </ul>
  );
}

/** A table: the headers stay in view, and an empty row waits at the end for the next. */
export function TableField({ field, tags }: { field: Field; tags: readonly LocalTag[] }) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useEditor();
  const rows = useRows(tags, field.key);
  // One list: the row that is typed into stays the same when it begins to exist.
  const shown = editor.readOnly ? rows : [...rows, []];
  const unconfirmed = tags.filter(isUnconfirmed).length;
  return (
    <>
      <div
        className={classes.tableFrame}
        role="region"
        aria-label={t('table.label', { label: field.label })}
      >
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col" aria-label={t('table.row')}>
                #
              </th>
              {field.columns.map((column) => (
                <th key={column.key} scope="col" title={column.description || undefined}>
                  <bdi>{column.label}</bdi>
                  {column.required && ' *'}
                </th>
              ))}
              {!editor.readOnly && <td />}
            </tr>
          </thead>
          <tbody>
            {shown.map((own, row) => (
              <Row key={row} table={field} row={row} tags={own} isNew={row === rows.length} />
            ))}
          </tbody>
        </table>
      </div>
      {unconfirmed > 0 && (
        <span className={classes.confidence}>{t('table.unconfirmed', { count: unconfirmed })}</span>
      )}
      <Problems tags={tags} />
    </>
  );
}
