import { MantineProvider } from '@mantine/core';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ApiError } from '@/kit/api/errors';
import { EditedContext } from '@/kit/forms/edited';
import { ErrorAlert } from './ErrorAlert';

const MESSAGE = 'Read it again.';
const stale = (details?: Record<string, unknown>) =>
  new ApiError(409, { code: 'stale_precondition', message: MESSAGE, ...(details && { details }) });

function render(error: ApiError, revision?: number): string {
  const nothing = () => undefined;
  const edited = { revision: revision ?? 0, keep: nothing, goOn: nothing, drop: nothing };
  return renderToString(
    <MantineProvider>
      <EditedContext value={revision === undefined ? undefined : edited}>
        <ErrorAlert error={error} />
      </EditedContext>
    </MantineProvider>,
  );
}

test.each([
  ['the service says the revision', { current_revision: 4 }],
  ['two saves at the same instant', undefined],
])('what somebody else changed can be replaced or taken: %s', (_, details) => {
  const html = render(stale(details), 3);
  expect(html.match(/<button/g)).toHaveLength(2);
  expect(html).not.toContain(MESSAGE);
});

test('the question is answered when the form goes on from the newer revision', () => {
  expect(render(stale({ current_revision: 4 }), 4)).not.toContain('<button');
});

test('elsewhere, the message of the service is shown', () => {
  expect(render(stale({ current_revision: 4 }))).toContain(MESSAGE);
});
