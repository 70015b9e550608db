import { useEffect, useMemo } from 'react';
import { useEditor } from '../model/context';
import type { Editor } from '../model/editor';
import type { WordCursor } from './cursor';
import type { Box, Size } from './geometry';
import { drawOverlay, listMarks } from './overlay';
import { PagePointer } from './pointer';
import type { DocumentPage } from './usePages';
import { useView, type View } from './view';

/** Draws what is marked on a page, at most once per frame. */
class Overlay {
  canvas: HTMLCanvasElement | null = null;
  size: Size = { width: 1, height: 1 };
  readonly pointer: PagePointer;
  private frame = 0;

  constructor(
    private readonly editor: Editor,
    private readonly view: View,
    private readonly page: DocumentPage,
    private readonly cursor: WordCursor,
  ) {
    this.pointer = new PagePointer(editor, page.number, page.index, this.redraw);
  }

  redraw = (): void => {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(this.draw);
  };

  private draw = (): void => {
    if (!this.canvas) return;
    const { number } = this.page;
    const boxes = (words: readonly { page: number; box: Box }[]) =>
      words.filter((word) => word.page === number).map((word) => word.box);
    const { pointing } = this.pointer;
    drawOverlay(this.canvas, this.size, listMarks(this.editor, number), {
      ...pointing,
      found: boxes(this.view.state.found.flat()),
      chosen: [...(pointing.chosen ?? []), ...boxes(this.cursor.chosen())],
    });
  };

  /** Follows everything that is drawn. Returns the function that ends it. */
  connect(): () => void {
    const ends = [this.editor, this.view, this.cursor].map((one) => one.subscribe(this.redraw));
    return () => {
      cancelAnimationFrame(this.frame);
      for (const end of ends) end();
    };
  }

  attach = (canvas: HTMLCanvasElement | null): void => {
    this.canvas = canvas;
    this.redraw();
  };

  resize(size: Size): void {
    this.size = size;
    this.redraw();
  }
}

export function useOverlay(page: DocumentPage, size: Size, isNear: boolean, cursor: WordCursor) {
  const editor = useEditor();
  const view = useView();
  const overlay = useMemo(
    () => new Overlay(editor, view, page, cursor),
    [editor, view, page, cursor],
  );
  useEffect(() => overlay.resize(size), [overlay, size]);
  useEffect(() => (isNear ? overlay.connect() : undefined), [isNear, overlay]);
  return { attachCanvas: overlay.attach, pointer: overlay.pointer };
}
