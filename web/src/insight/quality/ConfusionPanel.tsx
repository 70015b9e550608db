import { SegmentedControl, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useFields } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import { asJson } from '@/kit/api/json';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Panel } from '@/kit/components/Panel';
import { useFormat } from '@/kit/i18n/format';
import { LoadingRows } from '@/kit/lists/Listing';
import { HeatTable } from './HeatTable';

const TYPES = ['choice', 'boolean', 'country', 'currency'];
const SHOWN = 30;

type Against = 'labelers' | 'accepted';

interface Props {
  schemaId: string | undefined;
  field: string | undefined;
  against: Against;
  onAgainst: (against: Against) => void;
}

/** Which values of a field are given instead of which. */
export function ConfusionPanel({ schemaId, field, against, onAgainst }: Props) {
  const { t } = useTranslation('insight/quality');
  const type = useFields(schemaId).find(({ value }) => value === field)?.type;
  const ready = schemaId !== undefined && field !== undefined && TYPES.includes(type ?? '');
  return (
    <Panel
      title={t('confusion.title')}
      {...(!ready && { description: t('confusion.text') })}
      actions={
        ready && (
          <SegmentedControl
            size="xs"
            aria-label={t('confusion.against')}
            value={against}
            onChange={(next) => onAgainst(next === 'accepted' ? 'accepted' : 'labelers')}
            data={[
              { value: 'labelers', label: t('confusion.labelers') },
              { value: 'accepted', label: t('confusion.accepted') },
            ]}
          />
        )
      }
    >
      {ready && <Confusion schemaId={schemaId} field={field} against={against} />}
    </Panel>
  );
}

interface ConfusionProps {
  schemaId: string;
  field: string;
  against: Against;
}

function Confusion({ schemaId, field, against }: ConfusionProps) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const query = $api.useQuery('get', '/api/v1/quality/confusion', {
    params: { query: { schema_id: schemaId, field, against, limit: SHOWN } },
  });
  const matrix = asJson(query.data)?.data;
  if (query.error) return <ErrorAlert error={query.error} retry={() => void query.refetch()} />;
  if (!matrix) return <LoadingRows rows={3} />;
  if (matrix.units === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('confusion.empty')}
      </Text>
    );
  return (
    <>
      <Text size="xs" c="dimmed">
        {t('confusion.units', { formatted: format.number(matrix.units) })}
      </Text>
      <Matrix matrix={matrix} against={against} />
    </>
  );
}

interface MatrixProps {
  matrix: Schemas['ConfusionMatrix'];
  against: Against;
}

function Matrix({ matrix, against }: MatrixProps) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const names = matrix.values.map((value) => value ?? t('confusion.none'));
  // The last row and column stand for all values that are not listed.
  if (matrix.counts.length > names.length)
    names.push(t('confusion.others', { count: matrix.other_values }));
  const largest = Math.max(...matrix.counts.flat(), 1);
  return (
    <HeatTable
      label={t('confusion.title')}
      rowsTitle={t(`confusion.rows_${against}`)}
      columnsTitle={t(`confusion.columns_${against}`)}
      rows={names}
      columns={names}
      cell={(row, column) => {
        const count = matrix.counts[row]?.[column] ?? 0;
        return {
          share: count / largest,
          text: format.number(count),
          good: row === column,
        };
      }}
    />
  );
}
