import { afterEach, expect, test, vi } from 'vitest';
import { copyText } from './copying';

afterEach(() => vi.unstubAllGlobals());

function stubPage(isAllowed: boolean) {
  const areas: { value: string; isSelected: boolean }[] = [];
  const createElement = () => {
    const area = { value: '', isSelected: false, style: {}, remove: () => undefined };
    const select = () => void (area.isSelected = true);
    areas.push(area);
    return Object.assign(area, { select });
  };
  vi.stubGlobal('HTMLElement', Object);
  vi.stubGlobal('document', {
    activeElement: null,
    body: { append: () => undefined },
    createElement,
    execCommand: (command: string) => command === 'copy' && isAllowed,
  });
  return areas;
}

test.each([true, false])('a page without encryption copies what it selects: %s', async (is) => {
  vi.stubGlobal('navigator', {});
  const areas = stubPage(is);
  expect(await copyText('secret')).toBe(is);
  expect(areas).toMatchObject([{ value: 'secret', isSelected: true }]);
});

test('a browser that refuses has not copied', async () => {
  const writeText = vi.fn(() => Promise.reject(new Error('denied')));
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  expect(await copyText('secret')).toBe(false);
  expect(writeText).toHaveBeenCalledWith('secret');
});
