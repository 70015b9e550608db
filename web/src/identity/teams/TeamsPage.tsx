import { Box, Button, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Network, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { EmptyState } from '@/kit/components/EmptyState';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { LoadingRows } from '@/kit/lists/Listing';
import { SearchInput } from '@/kit/lists/SearchInput';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useMay } from '@/kit/session/may';
import { TeamDialog } from './TeamDialog';
import { TeamTree } from './TeamTree';
import { filterTree, type Node } from './tree';

const route = getRouteApi('/work/teams');

export function TeamsPage() {
  const { t } = useTranslation('identity/teams');
  const { q } = route.useSearch();
  const { filter } = useListSearch<{ q?: string | undefined; cursor?: undefined }>({ q });
  const mayManage = useMay()('teams:manage');
  const [parent, setParent] = useState<{ id: string | undefined }>();
  const query = $api.useQuery('get', '/api/v1/teams/org-chart');
  const add = () => setParent({ id: undefined });
  useKeys(t('title'), [{ keys: 'n', text: t('new'), run: add, disabled: !mayManage }]);
  const button = mayManage && (
    <Button leftSection={<Plus size={16} />} onClick={add}>
      {t('new')}
    </Button>
  );
  const teams = query.data?.data.teams;
  return (
    <Page title={t('title')} description={t('description')} actions={button}>
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <LoadingRows />}
      {teams?.length === 0 && (
        <EmptyState icon={Network} title={t('empty.title')} description={t('empty.text')} />
      )}
      {teams && teams.length > 0 && (
        <Stack>
          <SearchInput
            value={q}
            onChange={(next) => filter({ q: next })}
            aria-label={t('search')}
            placeholder={t('search')}
            maw={320}
          />
          <Chart
            teams={filterTree(teams, q)}
            onAdd={mayManage ? (id) => setParent({ id }) : undefined}
          />
        </Stack>
      )}
      {parent && <TeamDialog parentId={parent.id} onClose={() => setParent(undefined)} />}
    </Page>
  );
}

interface ChartProps {
  teams: readonly Node[];
  onAdd: ((parentId: string) => void) | undefined;
}

function Chart({ teams, onAdd }: ChartProps) {
  const { t } = useTranslation('identity/teams');
  if (teams.length === 0)
    return <EmptyState title={t('not_found.title')} description={t('not_found.text')} />;
  return (
    <Box style={{ overflowX: 'auto' }}>
      <TeamTree nodes={teams} onAdd={onAdd} label={t('title')} />
    </Box>
  );
}
