import { Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { useNext } from './useNext';

/** Opens the next document, or says that there is none. */
export function NextPage() {
  const { t } = useTranslation('workflow/labeling');
  const queryClient = useQueryClient();
  const { go, error } = useNext();
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
    // Once per visit, also when React mounts twice while developing.
    if (isStarted.current) return;
    isStarted.current = true;
    void queryClient.invalidateQueries();
    search();
  }, [search, queryClient]);
  useKeys(t('next.title'), [{ keys: 'n', text: t('next.again'), run: search, disabled: !isEmpty }]);
  return (
    <Page title={isEmpty ? t('next.none') : t('next.title')} size="narrow">
      <ErrorAlert error={error} retry={search} />
      {isEmpty && (
        <>
          <Text>{t('next.text')}</Text>
          <Group>
            <Button onClick={search}>{t('next.again')}</Button>
            <Button component={Link} to="/" variant="default">
              {t('next.home')}
            </Button>
          </Group>
        </>
      )}
      {!isEmpty && !error && <Loading />}
    </Page>
  );
}
