import { expect, test } from 'vitest';
import { View } from './view';
import { buildIndex, findWords } from './words';

test('there is no way to a page that the document does not have', () => {
  const view = new View();
  view.connect({ reveal: (page) => page >= 1 && page <= 2 });
  for (const page of [2, 3, 0]) view.goTo(page);
  expect(view.state.page).toBe(2);
});

test('pages that are read during a search add to its places, and leave the one that is shown', () => {
  const view = new View();
  const shown: number[] = [];
  view.connect({ reveal: (page) => shown.push(page) > 0 });
  const word = { text: 'Total', box: [0, 0, 1, 1], start: 0, end: 5 };
  const find = (search: string, pages: number[]) =>
    view.showFound(
      search,
      pages.flatMap((page) => findWords(buildIndex(page, page === 1 ? [] : [word]), search)),
    );
  find('total', [1]);
  find('total', [1, 2, 3]);
  view.showHit(1);
  find('total', [1, 2, 3, 4]);
  expect([shown, view.state.hit, view.state.found.length]).toEqual([[2, 3], 1, 3]);
  find('tot', [1, 2, 3, 4]);
  expect([shown, view.state.hit]).toEqual([[2, 3, 2], 0]);
});
