import { Group, UnstyledButton } from '@mantine/core';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { type Column, nextSort, sortDirection } from './columns';

interface Props<Row> {
  column: Column<Row>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}

/** What the head of a column shows: its title, which sorts by it if the API can. */
export function HeadCell<Row>({ column, sort, onSort }: Props<Row>) {
  const { t } = useTranslation();
  const { sort: name, title } = column;
  if (name === undefined || !onSort) return <>{column.head ?? title}</>;
  const direction = sortDirection(sort, name);
  return (
    <UnstyledButton
      fz="inherit"
      fw="inherit"
      w="100%"
      aria-label={t('list.sort_by', { name: title })}
      onClick={() => onSort(nextSort(sort, name))}
    >
      <Group gap={4} wrap="nowrap" justify={column.align === 'end' ? 'flex-end' : 'flex-start'}>
        {title}
        {direction === 'ascending' && <ArrowUp size={12} aria-hidden />}
        {direction === 'descending' && <ArrowDown size={12} aria-hidden />}
      </Group>
    </UnstyledButton>
  );
}
