import { Text, TextInput } from '@mantine/core';
import { type KeyboardEvent, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { isComposing } from '@/kit/keys/matching';
import { useEditor } from '../model/context';
import type { DocumentPage } from './usePages';
import { useView, useViewState } from './view';
import { findWords } from './words';

/** Finds words in the document. Enter goes on, Ctrl+Enter takes what was found into the field. */
export function SearchBox({ pages }: { pages: readonly DocumentPage[] }) {
  const { t } = useTranslation('workflow/labeling');
  const view = useView();
  const editor = useEditor();
  const search = useViewState((state) => state.search) ?? '';
  const found = useViewState((state) => state.found);
  const hit = useViewState((state) => state.hit);
  useEffect(() => {
    const found = pages.flatMap((page) => findWords(page.index, search));
    view.showFound(search, found);
  }, [view, pages, search]);
  const close = () => {
    view.set({ search: undefined, found: [] });
    view.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === 'Escape') {
      // The document keeps the keyboard.
      event.preventDefault();
      close();
    }
    if (event.key !== 'Enter') return;
    event.preventDefault();
    event.stopPropagation();
    const words = found[hit];
    if ((event.ctrlKey || event.metaKey) && words) {
      editor.take(words, false);
      close();
    } else if (found.length > 0) {
      const by = event.shiftKey ? found.length - 1 : 1;
      view.showHit((hit + by) % found.length);
    }
  };
  return (
    <TextInput
      size="xs"
      w={200}
      placeholder={t('page.search')}
      aria-label={t('page.search')}
      value={search}
      onChange={(event) => view.set({ search: event.currentTarget.value })}
      onKeyDown={onKeyDown}
      // It opens because the user asked for it.
      // oxlint-disable-next-line jsx-a11y/no-autofocus
      autoFocus
      rightSectionWidth={56}
      rightSection={
        <Text size="xs" c="dimmed" role="status">
          {search.trim() === ''
            ? ''
            : t('page.hits', {
                hit: found.length === 0 ? 0 : hit + 1,
                count: found.length,
              })}
        </Text>
      }
    />
  );
}
