import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { Page } from '@/kit/components/Page';
import { toTimes } from '@/kit/lists/days';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { requireOrganization } from '@/kit/session/organization';
import { AuditFilters } from './AuditFilters';
import { AuditTable } from './AuditTable';
import type { AuditSearch } from './routes';

const route = getRouteApi('/work/audit');
const PAGE_SIZE = 50;

export function AuditPage() {
  const { t } = useTranslation('identity/audit');
  const search: AuditSearch = route.useSearch();
  const { filter, page } = useListSearch(search);
  const { from, to, ...rest } = search;
  const query = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_slug}/audit-log',
    {
      params: {
        path: { org_slug: requireOrganization() },
        query: { ...rest, ...toTimes({ from, to }), page_size: PAGE_SIZE },
      },
    },
    { placeholderData: keepPreviousData },
  );
  return (
    <Page title={t('title')} description={t('description')}>
      <AuditFilters search={search} onChange={filter} />
      <Listing
        query={query}
        cursor={search.cursor}
        onCursor={page}
        empty={{
          title: t('empty.title'),
          description: t('empty.text'),
          icon: ScrollText,
        }}
      >
        {(rows) => <AuditTable entries={rows} onTarget={(target_id) => filter({ target_id })} />}
      </Listing>
    </Page>
  );
}
