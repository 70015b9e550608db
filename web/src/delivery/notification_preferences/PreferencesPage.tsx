import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Page } from '@/kit/components/Page';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { LoadingRows } from '@/kit/lists/Listing';
import { ChannelsPanel } from './ChannelsPanel';
import { DeliveryPanel } from './DeliveryPanel';

export function PreferencesPage() {
  const { t } = useTranslation('delivery/notification_preferences');
  const profile = $api.useQuery('get', '/api/v1/users/me');
  const delivery = $api.useQuery('get', '/api/v1/notifications/delivery-preferences');
  return (
    <Page title={t('title')} description={t('description')} size="narrow">
      <ErrorAlert error={profile.error} retry={() => void profile.refetch()} />
      {profile.isPending && <LoadingRows />}
      {profile.data && <ChannelsPanel preferences={profile.data.data.notification_preferences} />}
      <ErrorAlert error={delivery.error} retry={() => void delivery.refetch()} />
      {delivery.data && (
        <EditedRecord latest={delivery.data.data}>
          {(record) => <DeliveryPanel preferences={record} />}
        </EditedRecord>
      )}
    </Page>
  );
}
