import { Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';

interface Props {
  /** Claims the next one and goes there; resolves to whether there was one. */
  go: () => Promise<boolean>;
  error: unknown;
  texts: { title: string; none: string; text: string; again: string };
  /** The way to somewhere else if there is nothing. */
  children: ReactNode;
}

/** Opens what is to do next, or says that there is nothing. */
export function NextSearch({ go, error, texts, children }: Props) {
  const queryClient = useQueryClient();
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
  useKeys(texts.title, [{ keys: 'n', text: texts.again, run: search, disabled: !isEmpty }]);
  return (
    <Page title={isEmpty ? texts.none : texts.title} size="narrow">
      <ErrorAlert error={error} retry={search} />
      {isEmpty && (
        <>
          <Text>{texts.text}</Text>
          <Group>
            <Button onClick={search}>{texts.again}</Button>
            {children}
          </Group>
        </>
      )}
      {!isEmpty && !error && <Loading />}
    </Page>
  );
}
