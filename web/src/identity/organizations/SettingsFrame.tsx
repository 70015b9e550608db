import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Page } from '@/kit/components/Page';
import { PageTabs } from '@/kit/components/PageTabs';
import { useMay } from '@/kit/session/may';

/** The frame of all pages of settings of the organization. */
export function SettingsFrame({ children }: { children: ReactNode }) {
  const { t } = useTranslation('identity/organizations');
  const may = useMay();
  return (
    <Page title={t('title')} size="narrow">
      {may('sso:manage') && (
        <PageTabs
          label={t('tabs.label')}
          tabs={[
            { to: '/settings', title: t('tabs.general') },
            { to: '/settings/sign-on', title: t('tabs.sign_on') },
          ]}
        />
      )}
      {children}
    </Page>
  );
}
