import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ApiError } from '@/kit/api/errors';
import { Listing } from './Listing';
import { PeriodInputs } from './PeriodInputs';
import { useCursorList } from './useCursorList';
import { VirtualTable } from './VirtualTable';

const error = new ApiError(422, { code: 'validation_error', message: 'Too long.' });

test.each([
  ['of a filter', { data: undefined, error }, ['Too long.', 'FILTERS']],
  ['not read yet', { data: undefined, error: null }, ['FILTERS']],
])('a list that is filtered can be filtered otherwise: %s', (_, state, texts) => {
  const html = renderToString(
    <MantineProvider>
      <Listing
        query={{ ...state, isPlaceholderData: false, refetch: () => undefined }}
        cursor={undefined}
        onCursor={() => undefined}
        empty={{ title: 'NOTHING' }}
        filters="FILTERS"
        isFiltered
      >
        {() => 'ROWS'}
      </Listing>
    </MantineProvider>,
  );
  for (const text of texts) expect(html).toContain(text);
});

test('rows that are shown stay when the next cannot be read, which is not tried by itself', () => {
  const client = new QueryClient();
  const meta = { total: 3, next_cursor: 'next', prev_cursor: null };
  const query = client.getQueryCache().build(client, { queryKey: ['get', 'list', {}, 'pages'] });
  query.setState({
    data: { pages: [{ data: ['a', 'b'], meta }], pageParams: [undefined] },
    error,
    status: 'error',
    fetchStatus: 'idle',
    dataUpdatedAt: Date.now(),
  });
  let list: ReturnType<typeof useCursorList<string>> | undefined;
  function Probe() {
    list = useCursorList<string>({ path: 'list', params: {}, fetch: () => Promise.reject(error) });
    return null;
  }
  renderToString(
    <QueryClientProvider client={client}>
      <Probe />
    </QueryClientProvider>,
  );
  expect(list).toMatchObject({ rows: ['a', 'b'], error, hasMore: false });
});

test.each([
  ['an error is not an empty list', error, false],
  ['a list that was read may be empty', null, true],
])('%s', (_, failure, isEmpty) => {
  const text = (row: string) => row;
  const html = renderToString(
    <MantineProvider>
      <VirtualTable
        label=""
        columns={[]}
        rows={[]}
        total={0}
        rowId={text}
        rowName={text}
        error={failure}
        empty="NOTHING"
      />
    </MantineProvider>,
  );
  expect(html.includes('NOTHING')).toBe(isEmpty);
});

test('a period can be chosen before the service has named one, and when it refuses one', () => {
  const html = renderToString(
    <MantineProvider>
      <PeriodInputs from={undefined} to="2026-11-01" onChange={() => undefined} />
    </MantineProvider>,
  );
  expect(html).toContain('value=""');
  expect(html).toContain('value="2026-11-01"');
});
