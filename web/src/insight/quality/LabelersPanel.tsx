import { keepPreviousData } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Person } from '@/identity/pickers';
import { Rate, toPeriod } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { PeoplePanel } from './PeoplePanel';
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
    <PeoplePanel
      title={t('people.labelers')}
      description={t('people.labelers_text')}
      none={t('people.empty')}
      query={query}
      cursor={cursor}
      onCursor={onCursor}
      columns={useColumns()}
      minWidth={860}
    />
  );
}

function useColumns(): Column<Row>[] {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  return [
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
}
