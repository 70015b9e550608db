import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { Loaded } from '@/kit/components/Loaded';
import { Section } from '@/kit/components/Section';
import { useFormat } from '@/kit/i18n/format';
import { DataTable } from '@/kit/lists/DataTable';

const ACTIONS = ['create', 'download', 'cancel', 'retry', 'run', 'expire'] as const;

/** Who created and downloaded a file, from the audit trail. */
export function History({ jobId }: { jobId: string }) {
  const { t } = useTranslation('delivery/exports');
  const format = useFormat();
  const audit = $api.useQuery('get', '/api/v1/exports/audit', {
    params: { query: { job_id: jobId, sort: '-at', page_size: 50 } },
  });
  const actionText = (action: string) => {
    const known = ACTIONS.find((one) => `exports.${one}` === action);
    return known ? t(`history.actions.${known}`) : action;
  };
  return (
    <Section title={t('history.title')}>
      <Loaded query={audit}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('history.none')}
            </Text>
          ) : (
            <DataTable
              label={t('history.title')}
              columns={[
                {
                  key: 'at',
                  title: t('history.at'),
                  cell: (row) => (
                    <Text size="sm" miw={90}>
                      {format.dateTime(row.at)}
                    </Text>
                  ),
                },
                {
                  key: 'action',
                  title: t('history.action'),
                  cell: (row) => actionText(row.action),
                },
                {
                  key: 'actor',
                  title: t('history.actor'),
                  cell: ({ actor }) =>
                    actor.kind === 'system' ? (
                      t('history.system')
                    ) : (
                      <span dir="auto">{actor.label}</span>
                    ),
                },
              ]}
              rows={data}
              rowKey={(row) => row.id}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
