import { Button, Chip, Group, Indicator } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ListFilter } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { SearchInput } from '@/kit/lists/SearchInput';
import { SchemaSelect } from '@/schemas/artifact_schemas';
import { countFilters, type DocumentSearch, STATUSES } from '../search';
import { MoreFilters } from './MoreFilters';
import { SEARCH_ID } from './useListKeys';

export interface FiltersProps {
  search: DocumentSearch;
  change: (changes: Partial<DocumentSearch>) => void;
  clear: () => void;
}

const VISIBLE = ['q', 'status', 'schema'] as const;

export function Filters({ search, change, clear }: FiltersProps) {
  const { t } = useTranslation('documents/artifacts');
  const [opened, { toggle }] = useDisclosure(countFilters(search, VISIBLE) > 0);
  const hidden = countFilters(search, VISIBLE);
  return (
    <>
      <Group gap="xs" role="search" aria-label={t('filters.title')}>
        <SearchInput
          id={SEARCH_ID}
          aria-label={t('filters.search')}
          placeholder={t('filters.search')}
          maxLength={500}
          dir="auto"
          flex="1 1 240px"
          value={search.q}
          onChange={(q) => change({ q })}
        />
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
