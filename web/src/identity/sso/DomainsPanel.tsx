import { Code, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { Panel } from '@/kit/components/Panel';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { DataTable } from '@/kit/lists/DataTable';

type Domain = Schemas['SsoDomain'];

/** Whether each domain is proven, and the record that proves it. */
export function DomainsPanel({ domains }: { domains: readonly Domain[] }) {
  const { t } = useTranslation('identity/sso');
  return (
    <Panel title={t('domains.title')} description={t('domains.text')}>
      <DataTable<Domain>
        label={t('domains.title')}
        rows={domains}
        rowKey={({ domain }) => domain}
        columns={[
          {
            key: 'domain',
            title: t('domains.domain'),
            heads: true,
            cell: ({ domain }) => domain,
          },
          {
            key: 'state',
            title: t('domains.state'),
            cell: ({ verified_at, problem }) => (
              <>
                <StatusBadge tone={verified_at === null ? 'warning' : 'good'}>
                  {verified_at === null ? t('domains.waiting') : t('domains.verified')}
                </StatusBadge>
                {problem !== null && (
                  <Text size="xs" c="dimmed">
                    {problem}
                  </Text>
                )}
              </>
            ),
          },
          {
            key: 'record',
            title: t('domains.record'),
            cell: ({ record }) => <Code>{`${record.type} ${record.name}`}</Code>,
          },
          {
            key: 'value',
            title: t('domains.value'),
            cell: ({ record }) => <Code>{record.value}</Code>,
          },
        ]}
      />
    </Panel>
  );
}
