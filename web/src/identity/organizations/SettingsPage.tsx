import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { LoadingRows } from '@/kit/lists/Listing';
import { useMay } from '@/kit/session/may';
import { requireOrganization } from '@/kit/session/organization';
import { DangerPanel } from './DangerPanel';
import { SettingsForm } from './SettingsForm';
import { SettingsFrame } from './SettingsFrame';

export function SettingsPage() {
  useTranslation('identity/organizations');
  const may = useMay();
  const query = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_slug}',
    { params: { path: { org_slug: requireOrganization() } } },
    // What is edited must not change below the hands.
    { refetchOnWindowFocus: false },
  );
  const organization = query.data?.data;
  return (
    <SettingsFrame>
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <LoadingRows />}
      {organization && (
        <EditedRecord latest={organization}>
          {(record) => <SettingsForm organization={record} />}
        </EditedRecord>
      )}
      {organization && may('organizations:close') && <DangerPanel organization={organization} />}
    </SettingsFrame>
  );
}
