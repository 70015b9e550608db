import { SegmentedControl, Stack } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Mail } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { requireOrganization } from '@/kit/session/organization';
import { InvitationsTable } from './InvitationsTable';
import { PeoplePage } from './PeoplePage';
import type { InvitationsSearch } from './routes';

const route = getRouteApi('/work/members/invitations');
const STATUSES = ['open', 'expired', 'accepted', 'revoked'] as const;

export function InvitationsPage() {
  const { t } = useTranslation('identity/invitations');
  const search: InvitationsSearch = route.useSearch();
  const { filter, page } = useListSearch(search);
  const status = search.status ?? 'open';
  const query = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_slug}/invitations',
    {
      params: {
        path: { org_slug: requireOrganization() },
        query: { sort: '-created_at', ...search, status, page_size: 50 },
      },
    },
    { placeholderData: keepPreviousData },
  );
  return (
    <PeoplePage title={t('title')} description={t('description')}>
      <Stack>
        <SegmentedControl
          w="fit-content"
          maw="100%"
          size="xs"
          // The German words need a second line on narrow screens.
          style={{ flexWrap: 'wrap' }}
          value={status}
          onChange={(next) =>
            filter({ status: STATUSES.find((one) => one === next && one !== 'open') })
          }
          data={STATUSES.map((value) => ({ value, label: t(`status.${value}`) }))}
        />
        <Listing
          query={query}
          cursor={search.cursor}
          onCursor={page}
          empty={{
            title: t('empty.title'),
            description: t('empty.text'),
            icon: Mail,
          }}
        >
          {(rows) => (
            <InvitationsTable
              invitations={rows}
              sort={search.sort ?? '-created_at'}
              onSort={(sort) => filter({ sort })}
            />
          )}
        </Listing>
      </Stack>
    </PeoplePage>
  );
}
