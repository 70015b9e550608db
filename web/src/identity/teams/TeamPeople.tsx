import { Button, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { UserPlus } from 'lucide-react';
import { useDisclosure } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Panel } from '@/kit/components/Panel';
import { useFormat } from '@/kit/i18n/format';
import { fromPeriod, toPeriod } from '@/kit/lists/days';
import { LoadingRows } from '@/kit/lists/Listing';
import { PeriodInputs } from '@/kit/lists/PeriodInputs';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useMay } from '@/kit/session/may';
import { AddPeople } from './AddPeople';
import type { TeamSearch } from './routes';
import { WorkloadTable } from './WorkloadTable';

const route = getRouteApi('/work/teams/$teamId');

/** The members of a team with what they have to do and have done. */
export function TeamPeople({ team }: { team: Schemas['Team'] }) {
  const { t } = useTranslation('identity/teams');
  const format = useFormat();
  const search: TeamSearch = route.useSearch();
  const { filter } = useListSearch<TeamSearch & { cursor?: undefined }>(search);
  const mayManage = useMay()('teams:manage');
  const [opened, { open, close }] = useDisclosure(false);
  const query = $api.useQuery(
    'get',
    '/api/v1/teams/{team_id}/workload',
    { params: { path: { team_id: team.id }, query: toPeriod(search) } },
    { placeholderData: keepPreviousData },
  );
  const workload = query.data?.data;
  const period = workload && fromPeriod(workload);
  const addButton = mayManage && (
    <Button size="compact-md" variant="default" leftSection={<UserPlus size={14} />} onClick={open}>
      {t('people.add')}
    </Button>
  );
  return (
    <Panel
      title={t('people.title')}
      description={
        period &&
        t('people.text', {
          from: format.date(`${period.from}T12:00`),
          to: format.date(`${period.to}T12:00`),
        })
      }
      actions={addButton}
    >
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <LoadingRows />}
      <PeriodInputs
        from={search.from ?? period?.from}
        to={search.to ?? period?.to}
        onChange={filter}
      />
      {workload && <Workload team={team} workload={workload} />}
      {opened && <AddPeople team={team} onClose={close} />}
    </Panel>
  );
}

interface WorkloadProps {
  team: Schemas['Team'];
  workload: Schemas['TeamWorkload'];
}

function Workload({ team, workload }: WorkloadProps) {
  const { t } = useTranslation('identity/teams');
  const format = useFormat();
  const { members, waiting } = workload;
  return (
    <>
      {members.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('people.empty')}
        </Text>
      ) : (
        <WorkloadTable team={team} workload={workload} />
      )}
      {waiting.open > 0 && (
        <Text size="sm">
          {t('people.waiting', {
            open: format.number(waiting.open),
            overdue: format.number(waiting.overdue),
          })}
        </Text>
      )}
    </>
  );
}
