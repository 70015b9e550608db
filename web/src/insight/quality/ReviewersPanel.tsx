import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
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

type Row = Schemas['ReviewerQuality'];

const PAGE_SIZE = 50;

export function ReviewersPanel({ search }: { search: QualitySearch }) {
  const { t } = useTranslation('insight/quality');
  // The address holds the page of the labelers, who are more.
  const [cursor, setCursor] = useState<string>();
  const query = $api.useQuery(
    'get',
    '/api/v1/quality/reviewers',
    {
      params: {
        query: {
          ...toPeriod(search),
          schema_id: search.schema_id,
          cursor,
          page_size: PAGE_SIZE,
        },
      },
    },
    { placeholderData: keepPreviousData },
  );
  return (
    <PeoplePanel
      title={t('people.reviewers')}
      description={t('people.reviewers_text')}
      none={t('people.empty_reviewers')}
      query={query}
      cursor={cursor}
      onCursor={setCursor}
      columns={useColumns()}
      minWidth={760}
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
      key: 'decisions',
      title: t('people.decisions'),
      align: 'end',
      cell: ({ decisions }) => format.number(decisions),
    },
    {
      key: 'rejected',
      title: t('people.rejected'),
      align: 'end',
      cell: ({ rejected }) => format.number(rejected),
    },
    {
      key: 'acceptance_rate',
      title: t('rates.acceptance_rate'),
      head: <RateHead name="acceptance_rate" />,
      cell: ({ acceptance_rate }) => <Rate rate={acceptance_rate} />,
    },
    {
      key: 'overturned',
      title: t('rates.overturned'),
      head: <RateHead name="overturned" />,
      cell: ({ overturned }) => <Rate rate={overturned} />,
    },
    {
      key: 'leniency',
      title: t('people.leniency'),
      align: 'end',
      cell: ({ leniency }) =>
        leniency === null
          ? '–'
          : format.number(leniency, {
              style: 'percent',
              signDisplay: 'exceptZero',
              maximumFractionDigits: 1,
            }),
    },
  ];
}
