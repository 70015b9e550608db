import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { Loaded } from '@/kit/components/Loaded';
import { Section } from '@/kit/components/Section';
import { useFormat } from '@/kit/i18n/format';
import { DataTable } from '@/kit/lists/DataTable';

/** Which schema versions a file holds, with the number of rows of each. */
export function Manifest({ jobId }: { jobId: string }) {
  const { t } = useTranslation('delivery/exports');
  const format = useFormat();
  const manifest = $api.useQuery('get', '/api/v1/exports/{job_id}/manifest', {
    params: { path: { job_id: jobId } },
  });
  return (
    <Section title={t('manifest.title')}>
      <Loaded query={manifest}>
        {({ data }) => (
          <DataTable
            label={t('manifest.title')}
            columns={[
              {
                key: 'schema',
                title: t('schema'),
                cell: (row) => <span dir="auto">{row.name}</span>,
              },
              {
                key: 'version',
                title: t('manifest.version'),
                cell: (row) => format.number(row.number),
              },
              {
                key: 'rows',
                title: t('rows'),
                align: 'end',
                cell: (row) => format.number(row.row_count),
              },
            ]}
            rows={data.schemas.flatMap(({ name, versions }) =>
              versions.map((version) => ({ ...version, name })),
            )}
            rowKey={(row) => row.id}
          />
        )}
      </Loaded>
    </Section>
  );
}
