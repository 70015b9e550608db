import { useNavigate, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ifMatch, useIdempotency } from '@/kit/api/idempotency';
import type { Schemas } from '@/kit/api/types';
import { Loaded } from '@/kit/components/Loaded';
import { Page } from '@/kit/components/Page';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { useOrganizationTimeZone } from '@/kit/schedules/useOrganizationTimeZone';
import { refresh } from './refresh';
import { ScheduleForm } from './ScheduleForm';

export function NewSchedulePage() {
  const { t } = useTranslation('delivery/scheduled_exports');
  const navigate = useNavigate();
  const idempotency = useIdempotency();
  const timeZone = useOrganizationTimeZone();
  const create = $api.useMutation('post', '/api/v1/exports/scheduled');
  return (
    <Page title={t('create')} size="narrow">
      <ScheduleForm
        timeZone={timeZone}
        submitText={t('create')}
        pending={create.isPending}
        error={create.error}
        onSubmit={(body) =>
          create.mutate(
            { params: { header: idempotency.headers(body) }, body },
            {
              onSuccess: ({ data }) => {
                refresh();
                void navigate({
                  to: '/exports/schedules/$scheduleId',
                  params: { scheduleId: data.id },
                  ignoreBlocker: true,
                });
              },
            },
          )
        }
      />
    </Page>
  );
}

export function EditSchedulePage() {
  const { t } = useTranslation('delivery/scheduled_exports');
  const { scheduleId } = useParams({ from: '/work/exports/schedules/$scheduleId/edit' });
  const query = $api.useQuery(
    'get',
    '/api/v1/exports/scheduled/{export_id}',
    { params: { path: { export_id: scheduleId } } },
    // What is edited must not change below the hands.
    { refetchOnWindowFocus: false },
  );
  return (
    <Page title={t('edit')} size="narrow">
      <Loaded query={query}>
        {({ data }) => (
          <EditedRecord latest={data}>{(record) => <Edit scheduled={record} />}</EditedRecord>
        )}
      </Loaded>
    </Page>
  );
}

function Edit({ scheduled }: { scheduled: Schemas['ScheduledExport'] }) {
  const { t } = useTranslation('delivery/scheduled_exports');
  const navigate = useNavigate();
  const update = $api.useMutation('patch', '/api/v1/exports/scheduled/{export_id}');
  return (
    <ScheduleForm
      scheduled={scheduled}
      timeZone={scheduled.time_zone}
      submitText={t('save')}
      pending={update.isPending}
      error={update.error}
      onSubmit={(_all, changes) =>
        update.mutate(
          {
            params: {
              path: { export_id: scheduled.id },
              header: ifMatch(scheduled.revision),
            },
            body: changes,
          },
          {
            onSuccess: () => {
              refresh();
              void navigate({
                to: '/exports/schedules/$scheduleId',
                params: { scheduleId: scheduled.id },
                ignoreBlocker: true,
              });
            },
          },
        )
      }
    />
  );
}
