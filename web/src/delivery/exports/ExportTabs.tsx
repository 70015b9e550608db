import { useTranslation } from 'react-i18next';
import { PageTabs } from '@/kit/components/PageTabs';

/** The pages of exports. */
export function ExportTabs() {
  const { t } = useTranslation('delivery/exports');
  return (
    <PageTabs
      label={t('title')}
      tabs={[
        { to: '/exports', title: t('tabs.exports') },
        {
          to: '/exports/schedules',
          title: t('tabs.schedules'),
        },
      ]}
    />
  );
}
