import { useTranslation } from 'react-i18next';
import { PageTabs } from '@/kit/parts/PageTabs';

/** The pages under Integrations. */
export function IntegrationTabs({ active }: { active: 'webhooks' | 'api_keys' }) {
  const { t } = useTranslation('identity/api_keys');
  return (
    <PageTabs
      label={t('integrations')}
      tabs={[
        { to: '/integrations', text: t('tabs.webhooks'), active: active === 'webhooks' },
        {
          to: '/integrations/api-keys',
          text: t('tabs.api_keys'),
          active: active === 'api_keys',
        },
      ]}
    />
  );
}
