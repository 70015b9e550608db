import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { SettingsFrame } from '@/identity/organizations';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { LoadingRows } from '@/kit/lists/Listing';
import { requireOrganization } from '@/kit/session/organization';
import { DomainsPanel } from './DomainsPanel';
import { SignOnForm } from './SignOnForm';
import { StatePanel } from './StatePanel';

export function SignOnPage() {
  const { t } = useTranslation('identity/sso');
  const query = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_slug}/sso',
    { params: { path: { org_slug: requireOrganization() } } },
    { refetchOnWindowFocus: false },
  );
  const missing = isApiError(query.error, 'not_found');
  const sso = missing ? undefined : query.data?.data;
  return (
    <SettingsFrame>
      <Text size="sm" c="dimmed">
        {t('intro')}
      </Text>
      {!missing && <ErrorAlert error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <LoadingRows />}
      {(sso ?? missing) && (
        <Stack>
          <StatePanel sso={sso} />
          {sso && sso.domains.length > 0 && <DomainsPanel domains={sso.domains} />}
          <EditedRecord latest={{ revision: sso?.revision ?? 0, sso }}>
            {(record) => <SignOnForm sso={record.sso} revision={record.revision} />}
          </EditedRecord>
        </Stack>
      )}
    </SettingsFrame>
  );
}
