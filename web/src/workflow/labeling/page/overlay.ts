/** Drawing the marks of a page on its canvas: one pass over the marks, none over the words. */
import type { Editor } from '../model/editor';
import { isSameSlot, type Slot, tagAt, topKey } from '../model/tags';
import { colorOf } from './colors';
import { type Box, type Size, toBox } from './geometry';

export interface Mark {
  readonly box: Box;
  readonly color: number;
  readonly isActive: boolean;
}

/** What is under the pointer, or chosen by the keyboard; not part of the tags. */
export interface Pointing {
  hover?: Box | undefined;
  chosen?: readonly Box[];
  drawn?: Box | undefined;
  found?: readonly Box[];
}

export function listMarks(editor: Editor, page: number): Mark[] {
  const { tags, active } = editor.state;
  const positions = new Map(editor.fields.map((field, at) => [field.key, at]));
  const activeTag = active && tagAt(tags, active);
  return tags.flatMap((tag) =>
    tag.evidence.flatMap((piece) => {
      const box = piece.page === page ? toBox(piece.box) : undefined;
      const color = positions.get(topKey(tag.field)) ?? 0;
      return box ? [{ box, color, isActive: tag === activeTag }] : [];
    }),
  );
}

/** The input whose value is marked at a box of the page, for clicks that only look. */
export function slotAt(
  editor: Editor,
  page: number,
  inside: (box: Box) => boolean,
): Slot | undefined {
  const { tags } = editor.state;
  const tag = tags.find((one) =>
    one.evidence.some((piece) => {
      const box = piece.page === page ? toBox(piece.box) : undefined;
      return box !== undefined && inside(box);
    }),
  );
  if (!tag) return undefined;
  const siblings = tags.filter((one) => one.field === tag.field && one.row === tag.row);
  const slot = { field: tag.field, row: tag.row, index: siblings.indexOf(tag) };
  return isSameSlot(slot, undefined) ? undefined : slot;
}

const PADDING = 1.5;

export function drawOverlay(
  canvas: HTMLCanvasElement,
  size: Size,
  marks: readonly Mark[],
  pointing: Pointing,
): void {
  const { found = [], chosen = [], hover, drawn } = pointing;
  const isEmpty = marks.length + found.length + chosen.length === 0 && !hover && !drawn;
  // A page without marks needs no picture of its size.
  if (isEmpty && canvas.width === 0) return;
  // Browsers refuse or slow down on canvases with very many pixels.
  const ratio = Math.min(window.devicePixelRatio, 4096 / Math.max(size.width, size.height, 1));
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext('2d');
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  const place = (box: Box, padding = PADDING) =>
    [
      box[0] * size.width - padding,
      box[1] * size.height - padding,
      (box[2] - box[0]) * size.width + 2 * padding,
      (box[3] - box[1]) * size.height + 2 * padding,
    ] as const;
  const paint = (box: Box, fill: string, line?: string, lineWidth = 1) => {
    const [x, y, w, h] = place(box);
    context.fillStyle = fill;
    context.fillRect(x, y, w, h);
    if (line === undefined) return;
    context.strokeStyle = line;
    context.lineWidth = lineWidth;
    context.strokeRect(x, y, w, h);
  };
  for (const { box, color, isActive } of marks)
    paint(
      box,
      colorOf(color, isActive ? 0.3 : 0.16),
      colorOf(color, isActive ? 1 : 0.55),
      isActive ? 2 : 1,
    );
  for (const box of found) paint(box, 'rgb(255 212 59 / 0.45)');
  for (const box of chosen) paint(box, 'rgb(28 126 214 / 0.25)', 'rgb(24 100 171 / 0.9)');
  if (hover) paint(hover, 'rgb(28 126 214 / 0.1)', 'rgb(24 100 171 / 0.6)');
  if (drawn) paint(drawn, 'rgb(28 126 214 / 0.08)', 'rgb(24 100 171 / 1)', 1.5);
}
