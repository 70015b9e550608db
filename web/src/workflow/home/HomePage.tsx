import { useTranslation } from 'react-i18next';
import { Page } from '@/kit/components/Page';
import { useSession } from '@/kit/session/store';

export function HomePage() {
    const { t } = useTranslation('workflow/home');
    const name = useSession()?.user.name;
    return (
        <Page title={t('title')} size="narrow">
            {t('greeting', { name })}
        </Page>
    );
}
