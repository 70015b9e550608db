import { Button, Group, SegmentedControl, Select, TextInput } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Bell, CheckCheck } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Page } from '@/kit/components/Page';
import { toTimes } from '@/kit/lists/days';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { Entries } from './Entries';
import { KINDS, READ } from './kinds';
import type { NotificationSearch } from './routes';
import { LIST, useNotificationActions } from './useNotifications';

const route = getRouteApi('/work/notifications');
const PAGE_SIZE = 50;

/** Returns the filters of the API; days are those of the browser's time zone. */
function toQuery({ read, kind, from, to, cursor }: NotificationSearch) {
  return {
    kind,
    cursor,
    unread: read === undefined ? undefined : read === 'unread',
    ...toTimes({ from, to }),
    page_size: PAGE_SIZE,
  };
}

/** All notifications of the caller, of all organizations. */
export function NotificationsPage() {
  const { t } = useTranslation('delivery/notifications');
  const search: NotificationSearch = route.useSearch();
  const { filter, page, isFiltered } = useListSearch(search);
  const actions = useNotificationActions();
  const query = $api.useQuery(
    'get',
    LIST,
    { params: { query: toQuery(search) } },
    { placeholderData: keepPreviousData },
  );
  return (
    <Page
      title={t('title')}
      description={t('description')}
      size="narrow"
      actions={
        <>
          <Button
            variant="default"
            leftSection={<CheckCheck size={16} />}
            loading={actions.isReadingAll}
            onClick={actions.readAll}
          >
            {t('read_all')}
          </Button>
          <Button component={Link} to="/notification-preferences" variant="subtle">
            {t('preferences')}
          </Button>
        </>
      }
    >
      <Filters search={search} onChange={filter} />
      <ErrorAlert error={actions.error} />
      <Listing
        query={query}
        cursor={search.cursor}
        onCursor={page}
        isFiltered={isFiltered}
        empty={{ title: t('none'), icon: Bell }}
      >
        {(rows) => <Entries notifications={rows} actions={actions} />}
      </Listing>
    </Page>
  );
}

interface FiltersProps {
  search: NotificationSearch;
  onChange: (changes: Partial<NotificationSearch>) => void;
}

function Filters({ search, onChange }: FiltersProps) {
  const { t } = useTranslation('delivery/notifications');
  const { t: tKit } = useTranslation();
  const day = (name: 'from' | 'to') => (
    <TextInput
      type="date"
      label={t(`filters.${name}`)}
      value={search[name] ?? ''}
      onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value || undefined })}
    />
  );
  return (
    <Group align="flex-end" gap="sm">
      <SegmentedControl
        aria-label={t('filters.which')}
        value={search.read ?? ''}
        data={[
          { value: '', label: t('filters.all') },
          ...READ.map((value) => ({ value, label: t(`filters.${value}`) })),
        ]}
        onChange={(next) => onChange({ read: READ.find((one) => one === next) })}
      />
      <Select
        label={t('filters.kind')}
        placeholder={tKit('list.all')}
        w={220}
        clearable
        value={search.kind ?? null}
        data={KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
        onChange={(next) => onChange({ kind: KINDS.find((one) => one === next) })}
      />
      {day('from')}
      {day('to')}
    </Group>
  );
}
