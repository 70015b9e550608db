/** The word that the keyboard is on, and the words up to it that are chosen. */
import type { Editor } from '../model/editor';
import type { DocumentPage } from './usePages';
import {
  type Direction,
  joinWords,
  moveFrom,
  readingDirection,
  type Word,
  wordsBetween,
} from './words';

export class WordCursor {
  word: Word | undefined;
  private anchor: Word | undefined;
  private readonly listeners = new Set<() => void>();
  private pages: readonly DocumentPage[] = [];

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  setPages(pages: readonly DocumentPage[]): void {
    this.pages = pages;
  }

  private set(word: Word | undefined, anchor: Word | undefined): void {
    this.word = word;
    this.anchor = anchor;
    for (const listener of this.listeners) listener();
  }

  private pageOf(number: number): DocumentPage | undefined {
    return this.pages.find((page) => page.number === number);
  }

  /** Begins at a word, or at the first of a page. */
  start(page: number): void {
    const index = this.pageOf(page)?.index;
    const word = this.word?.page === page ? this.word : index?.words[0];
    this.set(word, word);
  }

  stop(): void {
    this.set(undefined, undefined);
  }

  jump(words: readonly Word[]): void {
    this.set(words.at(-1), words[0]);
  }

  /** Moves, onto the next page after the last word; with `extend` the words between are chosen. */
  move(arrow: Direction, extend: boolean): void {
    const { word } = this;
    const index = word && this.pageOf(word.page)?.index;
    if (!word || !index) return;
    const direction = readingDirection(index, word, arrow);
    let next = moveFrom(index, word, direction);
    if (next === word && !extend) {
      const isBack = direction === 'left' || direction === 'up';
      const words = this.pageOf(word.page + (isBack ? -1 : 1))?.index.words;
      next = (isBack ? words?.at(-1) : words?.[0]) ?? word;
    }
    this.set(next, extend ? (this.anchor ?? word) : next);
  }

  chosen(): readonly Word[] {
    const { word, anchor } = this;
    const index = word && this.pageOf(word.page)?.index;
    if (!word || !index) return [];
    return anchor?.page === word.page ? wordsBetween(index, anchor, word) : [word];
  }

  text = (): string => joinWords(this.chosen());

  take(editor: Editor, extend: boolean): void {
    editor.take(this.chosen(), extend);
    this.set(this.word, this.word);
  }
}
