import { MantineProvider } from '@mantine/core';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { hasUnsaved } from '@/kit/forms/unsaved';
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
  keepUnsent('set/name', 'More');
  keepUnsent('set/name', ' ');
  // Closing the tab would lose the other one.
  expect(hasUnsaved()).toBe(true);
  keepUnsent('set/number', '');
  expect(hasUnsaved()).toBe(false);
  expect(render('set/number')).not.toContain('Half a sentence');
});
