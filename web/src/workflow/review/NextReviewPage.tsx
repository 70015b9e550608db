import { Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { useNextReview } from './useNextReview';

/** Opens the next item of the queue, or says that there is none. */
export function NextReviewPage() {
  const { t } = useTranslation('workflow/review');
  const queryClient = useQueryClient();
  const { go, error } = useNextReview();
  const [isEmpty, setEmpty] = useState(false);
  const isStarted = useRef(false);
  const search = useCallback(() => {
    setEmpty(false);
    void go().then(
      (found) => setEmpty(!found),
      () => undefined,
    );
  }, [go]);
  useEffect(() => {
    if (isStarted.current) return;
    isStarted.current = true;
    void queryClient.invalidateQueries();
    search();
  }, [search, queryClient]);
  useKeys(t('next'), [{ keys: 'n', text: t('again'), run: search, disabled: !isEmpty }]);
  return (
    <Page title={isEmpty ? t('none') : t('next')} size="narrow">
      <ErrorAlert error={error} retry={search} />
      {isEmpty && (
        <>
          <Text>{t('none_text')}</Text>
          <Group>
            <Button onClick={search}>{t('again')}</Button>
            <Button component={Link} to="/review" variant="default">
              {t('queue')}
            </Button>
          </Group>
        </>
      )}
      {!isEmpty && !error && <Loading />}
    </Page>
  );
}
