import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { NextSearch } from '@/workflow/labeling';
import { useNextReview } from './useNextReview';

/** Opens the next item of the queue, or says that there is none. */
export function NextReviewPage() {
  const { t } = useTranslation('workflow/review');
  const { go, error } = useNextReview();
  const texts = { title: t('next'), none: t('none'), text: t('none_text'), again: t('again') };
  return (
    <NextSearch go={go} error={error} texts={texts}>
      <Button component={Link} to="/review" variant="default">
        {t('queue')}
      </Button>
    </NextSearch>
  );
}
