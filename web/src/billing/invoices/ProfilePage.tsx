import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { BillingPage } from '@/billing/plan';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Panel } from '@/kit/components/Panel';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { LoadingRows } from '@/kit/lists/Listing';
import { ProfileForm } from './ProfileForm';

export function ProfilePage() {
  const { t } = useTranslation('billing/invoices');
  const query = $api.useQuery(
    'get',
    '/api/v1/billing/profile',
    {},
    // What is edited must not change below the hands.
    { refetchOnWindowFocus: false },
  );
  const profile = query.data?.data;
  return (
    <BillingPage>
      <Stack maw={640}>
        <Panel title={t('profile.title')} description={t('profile.text')}>
          <ErrorAlert error={query.error} retry={() => void query.refetch()} />
          {query.isPending && <LoadingRows />}
          {profile && (
            <EditedRecord latest={profile}>
              {(record) => <ProfileForm profile={record} />}
            </EditedRecord>
          )}
        </Panel>
      </Stack>
    </BillingPage>
  );
}
