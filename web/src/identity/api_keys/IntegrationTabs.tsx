import { useTranslation } from 'react-i18next';
import { PageTabs } from '@/kit/components/PageTabs';

/** The pages under Integrations. */
export function IntegrationTabs() {
  const { t } = useTranslation('identity/api_keys');
  return (
    <PageTabs
      label={t('integrations')}
      tabs={[
        { to: '/integrations', title: t('tabs.webhooks') },
        {
          to: '/integrations/api-keys',
          title: t('tabs.api_keys'),
        },
      ]}
    />
  );
}
