import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { TeamSelect } from '@/identity/pickers';
import { addDays } from '@/insight/figures';
import { PeriodInputs } from '@/kit/lists/PeriodInputs';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useOrganizationTimeZone } from '@/kit/schedules/useOrganizationTimeZone';
import { useMay } from '@/kit/session/may';
import { LabelersPanel } from './LabelersPanel';
import { QualityFrame } from './QualityFrame';
import { ReviewersPanel } from './ReviewersPanel';

const route = getRouteApi('/work/quality/people');
const DEFAULT_DAYS = 29;

export function PeoplePage() {
  const { t } = useTranslation('insight/quality');
  const search = route.useSearch();
  const { filter, page } = useListSearch(search);
  const may = useMay();
  // `en-CA` writes days as the API does.
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: useOrganizationTimeZone() }).format();
  const to = search.to ?? today;
  const from = search.from ?? addDays(to, -DEFAULT_DAYS);
  return (
    <QualityFrame
      schemaId={search.schema_id}
      onSchema={(schema_id) => filter({ schema_id })}
      filters={
        <>
          <TeamSelect
            w={180}
            placeholder={t('trend.all')}
            value={search.team_id}
            onChange={(team_id) => filter({ team_id })}
          />
          <PeriodInputs from={from} to={to} onChange={filter} />
        </>
      }
    >
      <LabelersPanel search={{ ...search, from, to }} onCursor={page} />
      {may('quality:manage') && <ReviewersPanel search={{ ...search, from, to }} />}
    </QualityFrame>
  );
}
