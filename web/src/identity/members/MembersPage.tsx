import { Group, Stack } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { RoleSelect, TeamSelect } from '@/identity/pickers';
import { PeoplePage } from '@/identity/invitations';
import { $api } from '@/kit/api/client';
import { Listing } from '@/kit/lists/Listing';
import { SearchInput } from '@/kit/lists/SearchInput';
import { useListSearch } from '@/kit/lists/useListSearch';
import { requireOrganization } from '@/kit/session/organization';
import { MembersTable } from './MembersTable';
import type { MembersSearch } from './routes';

const route = getRouteApi('/work/members');
const PAGE_SIZE = 50;

export function MembersPage() {
  const { t } = useTranslation('identity/members');
  const search: MembersSearch = route.useSearch();
  const { filter, page } = useListSearch(search);
  const query = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_slug}/members',
    {
      params: {
        path: { org_slug: requireOrganization() },
        query: { ...search, page_size: PAGE_SIZE },
      },
    },
    { placeholderData: keepPreviousData },
  );
  return (
    <PeoplePage title={t('title')} description={t('description')}>
      <Stack>
        <Group align="flex-end" gap="sm">
          <SearchInput value={search.q} onChange={(q) => filter({ q })} w={240} />
          <RoleSelect
            label={null}
            aria-label={t('filter_role')}
            placeholder={t('filter_role')}
            clearable
            value={search.role}
            onChange={(role) => filter({ role })}
            w={160}
          />
          <TeamSelect
            label={null}
            aria-label={t('filter_team')}
            placeholder={t('filter_team')}
            value={search.team_id}
            onChange={(team_id) => filter({ team_id })}
            w={220}
          />
        </Group>
        <Listing
          query={query}
          cursor={search.cursor}
          onCursor={page}
          empty={{
            title: t('empty.title'),
            description: t('empty.text'),
            icon: Users,
          }}
        >
          {(rows) => (
            <MembersTable
              members={rows}
              sort={search.sort ?? 'name'}
              onSort={(sort) => filter({ sort })}
            />
          )}
        </Listing>
      </Stack>
    </PeoplePage>
  );
}
