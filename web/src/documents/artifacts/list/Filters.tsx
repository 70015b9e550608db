import { Button, Chip, CloseButton, Group, Indicator, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { ListFilter, Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SchemaSelect } from '@/schemas/artifact_schemas';
import { countFilters, type DocumentSearch, STATUSES } from '../search';
import { MoreFilters } from './MoreFilters';
import { SEARCH_ID } from './useListKeys';

export interface FiltersProps {
  search: DocumentSearch;
  change: (changes: Partial<DocumentSearch>) => void;
  clear: () => void;
}

const WAIT_MILLISECONDS = 300;
const VISIBLE = ['q', 'status', 'schema'] as const;

function SearchInput({ search, change }: Omit<FiltersProps, 'clear'>) {
  const { t } = useTranslation('documents/artifacts');
  const [text, setText] = useState(search.q ?? '');
  const sent = useRef(search.q ?? '');
  const send = useDebouncedCallback((q: string) => {
    sent.current = q;
    change({ q });
  }, WAIT_MILLISECONDS);
  useEffect(() => {
    // The address changed in another way, such as a link or the back button.
    const q = search.q ?? '';
    if (q === sent.current) return;
    sent.current = q;
    setText(q);
  }, [search.q]);
  const type = (value: string) => {
    setText(value);
    send(value);
  };
  return (
    <TextInput
      id={SEARCH_ID}
      type="search"
      aria-label={t('filters.search')}
      placeholder={t('filters.search')}
      leftSection={<Search size={16} aria-hidden />}
      rightSection={
        text !== '' && (
          <CloseButton size="sm" aria-label={t('filters.clear_search')} onClick={() => type('')} />
        )
      }
      value={text}
      maxLength={500}
      dir="auto"
      flex="1 1 240px"
      onChange={(event) => type(event.currentTarget.value)}
    />
  );
}

export function Filters({ search, change, clear }: FiltersProps) {
  const { t } = useTranslation('documents/artifacts');
  const [opened, { toggle }] = useDisclosure(countFilters(search, VISIBLE) > 0);
  const hidden = countFilters(search, VISIBLE);
  return (
    <>
      <Group gap="xs" role="search" aria-label={t('filters.title')}>
        <SearchInput search={search} change={change} />
        <SchemaSelect
          aria-label={t('filters.schema')}
          placeholder={t('filters.schema')}
          value={search.schema}
          onChange={(schema) => change({ schema })}
          flex="0 1 200px"
        />
        <Indicator label={hidden} disabled={hidden === 0} size={16}>
          <Button
            variant="default"
            leftSection={<ListFilter size={16} aria-hidden />}
            aria-expanded={opened}
            onClick={toggle}
          >
            {t('filters.more')}
          </Button>
        </Indicator>
        {countFilters(search) > 0 && (
          <Button variant="subtle" onClick={clear}>
            {t('filters.clear')}
          </Button>
        )}
      </Group>
      <Chip.Group
        multiple
        value={search.status ?? []}
        onChange={(chosen) =>
          change({ status: STATUSES.filter((status) => chosen.includes(status)) })
        }
      >
        <Group gap={6} role="group" aria-label={t('column.status')}>
          {STATUSES.map((status) => (
            <Chip key={status} value={status} size="xs" variant="light">
              {t(`status.${status}`)}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {opened && <MoreFilters search={search} change={change} />}
    </>
  );
}
