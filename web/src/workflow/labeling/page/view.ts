/** How the document is looked at: size, rotation, page. Shared by toolbar, keys and pages. */
import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Evidence } from '../model/tags';
import { type Box, type Rotation, toBox, turn } from './geometry';
import type { Word } from './words';

export interface ViewState {
  /** 1 fits the width. */
  readonly zoom: number;
  readonly rotation: Rotation;
  readonly page: number;
  readonly asText: boolean;
  readonly thumbnails: boolean;
  /** What was searched for, and the words that were found. */
  readonly search: string | undefined;
  readonly found: readonly (readonly Word[])[];
  readonly hit: number;
}

/** What the part that shows the document can do. */
export interface Shower {
  /** Scrolls to a place of a page. Returns whether there is such a page. */
  reveal?: (page: number, box?: Box) => boolean;
  /** Scrolls to offsets of the text. */
  revealText?: (evidence: Evidence) => void;
  /** Puts the keyboard on the document. */
  focus?: () => void;
}

const STEPS = [0.25, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4, 6];

const START: ViewState = {
  zoom: 1,
  rotation: 0,
  page: 1,
  asText: false,
  thumbnails: false,
  search: undefined,
  found: [],
  hit: 0,
};

export class View {
  state = START;
  private shower: Shower = {};
  /** What the places that are found were searched for. */
  private searched: string | undefined;
  private readonly listeners = new Set<() => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  set(changes: Partial<ViewState>): void {
    this.state = { ...this.state, ...changes };
    for (const listener of this.listeners) listener();
  }

  /** Registers what shows the document. Returns the function that ends it. */
  connect(shower: Shower): () => void {
    this.shower = { ...this.shower, ...shower };
    return () => {
      this.shower = {};
    };
  }

  reveal(page: number, box?: Box): boolean {
    return this.shower.reveal?.(page, box) ?? false;
  }

  focus(): void {
    this.shower.focus?.();
  }

  zoomBy(direction: 1 | -1): void {
    const { zoom } = this.state;
    const next =
      direction === 1
        ? STEPS.find((step) => step > zoom + 0.01)
        : STEPS.findLast((step) => step < zoom - 0.01);
    this.set({ zoom: next ?? zoom });
  }

  zoomTo(zoom: number): void {
    this.set({ zoom: Math.min(6, Math.max(0.25, zoom)) });
  }

  rotate(by: 90 | -90): void {
    this.set({ rotation: turn(this.state.rotation, by) });
  }

  goTo(page: number): void {
    if (this.reveal(page)) this.set({ page });
  }

  showEvidence(evidence: readonly Evidence[]): void {
    const piece = evidence.find((one) => one.page !== null || one.start !== null);
    if (!piece) return;
    if (this.state.asText) this.shower.revealText?.(piece);
    else if (piece.page !== null) this.reveal(piece.page, toBox(piece.box));
  }

  /** Shows the first place of a search. Places on pages that are read later only add to it. */
  showFound(search: string, found: ViewState['found']): void {
    const isMore = search === this.searched && this.state.found.length > 0;
    this.searched = search;
    this.set(isMore ? { found } : { found, hit: 0 });
    if (!isMore) this.showHit(0);
  }

  showHit(hit: number): void {
    const words = this.state.found[hit];
    const word = words?.[0];
    if (!word) return;
    this.set({ hit });
    this.reveal(word.page, word.box);
  }
}

export const ViewContext = createContext<View | undefined>(undefined);

export function useView(): View {
  const view = useContext(ViewContext);
  if (!view) throw new Error('There is no view around this component.');
  return view;
}

export function useViewState<Part>(select: (state: ViewState) => Part): Part {
  const view = useView();
  return useSyncExternalStore(view.subscribe, () => select(view.state));
}
