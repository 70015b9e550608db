import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { NextSearch } from './parts/NextSearch';
import { useNext } from './useNext';

/** Opens the next document, or says that there is none. */
export function NextPage() {
  const { t } = useTranslation('workflow/labeling');
  const { go, error } = useNext();
  const texts = {
    title: t('next.title'),
    none: t('next.none'),
    text: t('next.text'),
    again: t('next.again'),
  };
  return (
    <NextSearch go={go} error={error} texts={texts}>
      <Button component={Link} to="/" variant="default">
        {t('next.home')}
      </Button>
    </NextSearch>
  );
}
