import { type RefObject, useEffect } from 'react';
import { useEditor } from '../model/context';
import { type Evidence, tagAt, topKey } from '../model/tags';
import { HUES } from './colors';
import { type Chunk, toUnits } from './text';
import { useView } from './view';

function findPoint(root: HTMLElement, chunks: readonly Chunk[], offset: number) {
  const at = chunks.findIndex((chunk) => offset <= chunk.start + chunk.length);
  const chunk = chunks[at];
  const node = root.querySelector(`[data-chunk="${at}"]`)?.firstChild;
  return chunk && node ? { node, unit: toUnits(chunk.text, offset - chunk.start) } : undefined;
}

function buildRange(root: HTMLElement, chunks: readonly Chunk[], start: number, end: number) {
  const from = findPoint(root, chunks, start);
  const to = findPoint(root, chunks, end);
  if (!from || !to) return undefined;
  const range = new Range();
  range.setStart(from.node, from.unit);
  range.setEnd(to.node, to.unit);
  return range;
}

/** Marks the places of all values in the text without changing the text (CSS custom highlights). */
export function useHighlights(
  rootRef: RefObject<HTMLElement | null>,
  chunks: readonly Chunk[],
): void {
  const editor = useEditor();
  const view = useView();
  useEffect(() => {
    // Browsers without highlights show the text without marks.
    if (!('highlights' in CSS)) return;
    const paint = () => {
      const element = rootRef.current;
      if (!element) return;
      const { tags, active } = editor.state;
      const groups = [...HUES.map(() => new Highlight()), new Highlight()];
      const activeTag = active && tagAt(tags, active);
      for (const tag of tags)
        for (const { start, end } of tag.evidence) {
          const range = start !== null && end !== null && buildRange(element, chunks, start, end);
          const color = editor.fields.findIndex((one) => one.key === topKey(tag.field));
          const group = tag === activeTag ? HUES.length : color % HUES.length;
          if (range) groups[group]?.add(range);
        }
      groups.forEach((group, at) => CSS.highlights.set(`label-${at}`, group));
    };
    paint();
    const revealText = ({ start }: Evidence) => {
      const point = rootRef.current && start !== null && findPoint(rootRef.current, chunks, start);
      if (!point) return;
      const range = new Range();
      range.setStart(point.node, point.unit);
      const place = range.getBoundingClientRect();
      const frame = rootRef.current?.getBoundingClientRect();
      if (!frame || (place.top > frame.top && place.bottom < frame.bottom)) return;
      rootRef.current?.scrollBy({ top: place.top - frame.top - frame.height / 3 });
    };
    const disconnect = view.connect({ revealText });
    const end = editor.subscribe(paint);
    return () => {
      end();
      disconnect();
      for (let at = 0; at <= HUES.length; at += 1) CSS.highlights.delete(`label-${at}`);
    };
  }, [rootRef, chunks, editor, view]);
}
