import { Anchor, Grid, Stack, Tabs } from '@mantine/core';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { NotFound } from '@/kit/components/NotFound';
import { Page } from '@/kit/components/Page';
import { isApiError } from '@/kit/api/errors';
import { pollEvery } from '@/kit/api/polling';
import { parseQuery } from '../highlight';
import type { DetailTab } from '../routes';
import { StatusBadge } from '../StatusBadge';
import type { Artifact } from '../useDocuments';
import { Actions } from './Actions';
import { Facts } from './Facts';
import { History } from './History';
import { PagesPreview } from './PagesPreview';
import { TagSets } from './TagSets';
import styles from './detail.module.css';
import { TextPreview } from './TextPreview';

const PROCESSING_MILLISECONDS = 2_000;

function useArtifact(id: string) {
  return $api.useQuery(
    'get',
    '/api/v1/artifacts/{artifact_id}',
    { params: { path: { artifact_id: id } } },
    {
      refetchInterval: (polled) => {
        const isProcessing = polled.state.data?.data.status === 'processing';
        return pollEvery(polled, PROCESSING_MILLISECONDS, isProcessing);
      },
    },
  );
}

export function DocumentPage() {
  const { t } = useTranslation('documents/artifacts');
  const { artifactId } = useParams({ from: '/work/documents/$artifactId' });
  const { data, error, refetch } = useArtifact(artifactId);
  if (isApiError(error) && error.status === 404) return <NotFound />;
  const row = data?.data;
  return (
    <Page
      title={row?.name ?? t('document')}
      description={row && <Description row={row} />}
      actions={row && <Actions row={row} />}
    >
      <ErrorAlert error={error} retry={() => void refetch()} />
      {!row && !error && <Loading />}
      {row && <Content row={row} />}
    </Page>
  );
}

function Description({ row }: { row: Artifact }) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <span className={styles.description}>
      <Anchor component={Link} to="/documents" size="sm">
        {t('title')}
      </Anchor>
      <StatusBadge status={row.status} />
      {row.archived && <span>{t('archived')}</span>}
    </span>
  );
}

function Content({ row }: { row: Artifact }) {
  const { t } = useTranslation('documents/artifacts');
  const { tab = 'document', q } = useSearch({ from: '/work/documents/$artifactId' });
  const navigate = useNavigate();
  const phrases = useMemo(() => parseQuery(q ?? ''), [q]);
  const change = (next: string | null) =>
    void navigate({
      to: '/documents/$artifactId',
      params: { artifactId: row.id },
      search: { tab: next as DetailTab, ...(q !== undefined && { q }) },
      replace: true,
    });
  const labels = row.label_counts;
  const count = labels.draft + labels.submitted + labels.accepted + labels.rejected;
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Tabs value={tab} onChange={change} keepMounted={false}>
          <Tabs.List mb="sm">
            <Tabs.Tab value="document">{t('tab.document')}</Tabs.Tab>
            <Tabs.Tab value="text">{t('tab.text')}</Tabs.Tab>
            <Tabs.Tab value="labels">
              {t('tab.labels')} {count > 0 && `(${count})`}
            </Tabs.Tab>
            <Tabs.Tab value="history">{t('tab.history')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="document">
            <PagesPreview row={row} phrases={phrases} />
          </Tabs.Panel>
          <Tabs.Panel value="text">
            <TextPreview row={row} phrases={phrases} />
          </Tabs.Panel>
          <Tabs.Panel value="labels">
            <TagSets row={row} />
          </Tabs.Panel>
          <Tabs.Panel value="history">
            <History id={row.id} />
          </Tabs.Panel>
        </Tabs>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <Stack gap="md">
          <Facts row={row} />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}
