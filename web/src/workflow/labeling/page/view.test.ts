import { expect, test } from 'vitest';
import { View } from './view';

test('there is no way to a page that the document does not have', () => {
  const view = new View();
  view.connect({ reveal: (page) => page >= 1 && page <= 2 });
  for (const page of [2, 3, 0]) view.goTo(page);
  expect(view.state.page).toBe(2);
});
