import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { fromPeriod, PeriodNote, toPeriod } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Panel } from '@/kit/components/Panel';
import { LoadingRows } from '@/kit/lists/Listing';
import { PeriodInputs } from '@/kit/lists/PeriodInputs';
import { useListSearch } from '@/kit/lists/useListSearch';
import { LatestTable } from './LatestTable';
import { QualityFrame } from './QualityFrame';
import type { TrendSearch } from './search';
import { TrendPanel } from './TrendPanel';

const route = getRouteApi('/work/quality');

export function OverviewPage() {
  const { t } = useTranslation('insight/quality');
  const search: TrendSearch = route.useSearch();
  const { filter } = useListSearch(search);
  const query = $api.useQuery(
    'get',
    '/api/v1/quality/latest',
    { params: { query: { ...toPeriod(search), schema_id: search.schema_id } } },
    { placeholderData: keepPreviousData },
  );
  const latest = query.data?.data;
  const period = latest && fromPeriod(latest);
  return (
    <QualityFrame
      schemaId={search.schema_id}
      onSchema={(schema_id) => filter({ schema_id, field: undefined })}
      filters={
        <PeriodInputs
          from={search.from ?? period?.from}
          to={search.to ?? period?.to}
          onChange={filter}
        />
      }
    >
      <Panel title={t('latest.title')} description={t('latest.text')}>
        <ErrorAlert error={query.error} retry={() => void query.refetch()} />
        {query.isPending && <LoadingRows rows={3} />}
        {latest && <LatestTable schemas={latest.schemas} />}
        {latest && <PeriodNote period={latest} />}
      </Panel>
      <TrendPanel search={search} onChange={filter} />
    </QualityFrame>
  );
}
