/** What the pointer does on one page: words are clicked or dragged over, boxes are drawn. */
import type { Editor } from '../model/editor';
import type { FieldType } from '../model/tags';
import { type Box, boxBetween, contains, type Point } from './geometry';
import { type Pointing, slotAt } from './overlay';
import { type Word, wordAt, type WordIndex, wordsBetween, wordsIn } from './words';

interface Drag {
  readonly from: Point;
  readonly word: Word | undefined;
  to: Point;
  moved: boolean;
}

/** Shorter moves are clicks, in pixels. */
const CLICK = 4;
const SMALLEST_BOX = 0.004;

function isLargeEnough(box: Box): boolean {
  return box[2] - box[0] > SMALLEST_BOX && box[3] - box[1] > SMALLEST_BOX;
}

export class PagePointer {
  /** What is drawn: the word below the pointer, and what is being chosen. */
  pointing: Pointing = {};
  private drag: Drag | undefined;

  constructor(
    private readonly editor: Editor,
    private readonly page: number,
    private readonly index: WordIndex,
    private readonly redraw: () => void,
  ) {}

  private get type(): FieldType | undefined {
    const { active } = this.editor.state;
    return active && this.editor.definitions.get(active.field)?.type;
  }

  get drawsBoxes(): boolean {
    return this.type === 'region';
  }

  private show(pointing: Pointing): void {
    this.pointing = pointing;
    this.redraw();
  }

  private choose({ from, to, word, moved }: Drag): Word[] {
    if (!moved) return word ? [word] : [];
    const last = wordAt(this.index, to);
    // A span is a stretch of the text; other values are what the rectangle covers.
    if (this.type === 'span' && word && last) return wordsBetween(this.index, word, last);
    return wordsIn(this.index, boxBetween(from, to));
  }

  down(point: Point): void {
    this.drag = { from: point, to: point, word: wordAt(this.index, point), moved: false };
  }

  /** `pixels` is the length of the page's longer side on the screen. */
  move(point: Point, pixels: number): void {
    const { drag } = this;
    if (!drag) {
      const hover = this.editor.readOnly ? undefined : wordAt(this.index, point)?.box;
      if (hover !== this.pointing.hover) this.show({ hover });
      return;
    }
    drag.to = point;
    drag.moved ||= Math.hypot(point.x - drag.from.x, point.y - drag.from.y) * pixels > CLICK;
    if (!drag.moved) return;
    const chosen = this.drawsBoxes ? [] : this.choose(drag).map((word) => word.box);
    const drawn = this.type === 'span' ? undefined : boxBetween(drag.from, drag.to);
    this.show({ chosen, drawn });
  }

  /** `extend` adds to the words taken last; `look` goes to the field of a marked value. */
  up(extend: boolean, look: boolean): void {
    const { drag, editor } = this;
    this.cancel();
    if (!drag) return;
    if (editor.readOnly || !editor.state.active || look) {
      const slot = slotAt(editor, this.page, (box) => contains(box, drag.to));
      if (slot) editor.focus(slot);
    } else if (this.drawsBoxes && drag.moved) {
      const box = boxBetween(drag.from, drag.to);
      if (isLargeEnough(box)) editor.takeBox(this.page, box);
    } else editor.take(this.choose(drag), extend);
  }

  leave(): void {
    if (!this.drag) this.cancel();
  }

  cancel(): void {
    this.drag = undefined;
    this.show({});
  }
}
