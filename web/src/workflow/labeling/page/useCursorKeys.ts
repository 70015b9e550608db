import type { KeyboardEvent } from 'react';
import { useEditor } from '../model/context';
import type { WordCursor } from './cursor';
import { useView } from './view';
import type { Direction } from './words';

const ARROWS: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

/** Keys while the pages have the focus: arrows move over the words, Enter takes them. */
export function useCursorKeys(cursor: WordCursor) {
  const editor = useEditor();
  const view = useView();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const direction = ARROWS[event.key];
    if (direction && !editor.readOnly) {
      event.preventDefault();
      if (!cursor.word) cursor.start(view.state.page);
      else cursor.move(direction, event.shiftKey);
      if (cursor.word) view.reveal(cursor.word.page, cursor.word.box);
    } else if (event.key === 'Enter' && cursor.word) {
      event.preventDefault();
      event.stopPropagation();
      cursor.take(editor, event.shiftKey);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      cursor.stop();
      // The focus goes back to the input that takes the words.
      if (event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
      editor.recall();
    }
  };
  return { onKeyDown, onBlur: () => cursor.stop() };
}
