import { MantineProvider } from '@mantine/core';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { CommentBox, keepUnsent } from './CommentBox';

function render(place: string): string {
  return renderToString(
    <MantineProvider>
      <CommentBox
        {...{ place, label: '', button: '', members: [], error: null, isPending: false }}
        send={() => Promise.resolve()}
      />
    </MantineProvider>,
  );
}

test('a comment that was not sent is there again, at its place, until it is sent', () => {
  keepUnsent('set/number', 'Half a sentence');
  expect(render('set/number')).toContain('Half a sentence');
  expect(render('set/name')).not.toContain('Half a sentence');
  keepUnsent('set/number', '');
  expect(render('set/number')).not.toContain('Half a sentence');
});
