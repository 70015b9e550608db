import { keepPreviousData } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Person } from '@/identity/pickers';
import { Rate, toPeriod } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Panel } from '@/kit/components/Panel';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { Listing } from '@/kit/lists/Listing';
import { RateHead } from './RateHead';
import type { QualitySearch } from './search';

type Row = Schemas['LabelerQuality'];

const RATES = ['acceptance_rate', 'correction_rate', 'agreement', 'gold_accuracy'] as const;
const PAGE_SIZE = 50;

interface Props {
  search: QualitySearch & { team_id?: string | undefined };
  onCursor: (cursor: string | undefined) => void;
}

export function LabelersPanel({ search, onCursor }: Props) {
  const { t } = useTranslation('insight/quality');
  const { schema_id, team_id, cursor } = search;
  const query = $api.useQuery(
    'get',
    '/api/v1/quality/labelers',
    {
      params: {
        query: { ...toPeriod(search), schema_id, team_id, cursor, page_size: PAGE_SIZE },
      },
    },
    { placeholderData: keepPreviousData },
  );
  return (
    <Panel title={t('people.labelers')} description={t('people.labelers_text')}>
      <Listing
        query={query}
        cursor={cursor}
        onCursor={onCursor}
        empty={{ title: t('people.empty') }}
      >
        {(rows) => <LabelersTable rows={rows} />}
      </Listing>
    </Panel>
  );
}

function LabelersTable({ rows }: { rows: readonly Row[] }) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const columns: Column<Row>[] = [
    {
      key: 'name',
      title: t('people.name'),
      heads: true,
      cell: ({ user }) => <Person user={user} />,
    },
    {
      key: 'submitted',
      title: t('people.submitted'),
      align: 'end',
      cell: ({ throughput }) => format.number(throughput.submitted),
    },
    {
      key: 'speed',
      title: t('people.speed'),
      align: 'end',
      cell: ({ speed }) =>
        speed.tag_sets_per_hour === null
          ? '–'
          : format.number(speed.tag_sets_per_hour, { maximumFractionDigits: 0 }),
    },
    ...RATES.map((name): Column<Row> => ({
      key: name,
      title: t(`rates.${name}`),
      head: <RateHead name={name} />,
      cell: (row) => <Rate rate={row[name]} />,
    })),
  ];
  return (
    <DataTable
      label={t('people.labelers')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      minWidth={860}
    />
  );
}
