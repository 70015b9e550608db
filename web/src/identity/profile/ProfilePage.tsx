import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { EmailSection } from './EmailSection';
import { PasswordSection } from './PasswordSection';
import { ProfileSection } from './ProfileSection';
import { SessionsSection } from './SessionsSection';

/** The caller's own account: name, language and time zone, email, password, sessions. */
export function ProfilePage() {
  const { t } = useTranslation('identity/profile');
  const query = $api.useQuery('get', '/api/v1/users/me');
  const profile = query.data?.data;
  return (
    <Page title={t('title')} size="narrow">
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <Loading />}
      {profile && (
        <Stack gap="xl">
          <EditedRecord latest={profile}>
            {(record) => <ProfileSection profile={record} />}
          </EditedRecord>
          <EmailSection email={profile.email} verified={profile.email_verified} />
          <PasswordSection />
          <SessionsSection />
        </Stack>
      )}
    </Page>
  );
}
