import { useTranslation } from 'react-i18next';
import { PageTabs } from '@/kit/parts/PageTabs';

/** The pages of exports. */
export function ExportTabs({ active }: { active: 'exports' | 'schedules' }) {
  const { t } = useTranslation('delivery/exports');
  return (
    <PageTabs
      label={t('title')}
      tabs={[
        { to: '/exports', text: t('tabs.exports'), active: active === 'exports' },
        {
          to: '/exports/schedules',
          text: t('tabs.schedules'),
          active: active === 'schedules',
        },
      ]}
    />
  );
}
