import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Page } from '@/kit/components/Page';
import { PageTabs } from '@/kit/components/PageTabs';
import { useMay } from '@/kit/session/may';

interface Props {
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of all pages of billing. */
export function BillingPage({ actions, children }: Props) {
  const { t } = useTranslation('billing/plan');
  const mayManage = useMay()('billing:manage');
  return (
    <Page title={t('title')} actions={actions}>
      {mayManage && (
        <PageTabs
          label={t('tabs.label')}
          tabs={[
            { to: '/billing', title: t('tabs.plan') },
            { to: '/billing/invoices', title: t('tabs.invoices') },
            { to: '/billing/profile', title: t('tabs.profile') },
          ]}
        />
      )}
      {children}
    </Page>
  );
}
