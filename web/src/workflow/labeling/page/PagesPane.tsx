import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { useEditor } from '../model/context';
import { WordCursor } from './cursor';
import { CursorBar } from './CursorBar';
import { type Box, type Rotation, type Size, turnBox, turnedSize } from './geometry';
import classes from './Pages.module.css';
import { PageView } from './PageView';
import { useCursorKeys } from './useCursorKeys';
import { usePanning } from './usePanning';
import type { DocumentPage, usePages } from './usePages';
import { useView, useViewState } from './view';

const PADDING = 32;

/** The size of each page in pixels: at zoom 1 the widest fills the pane. */
function useSizes(pages: readonly DocumentPage[], width: number, zoom: number, rotation: Rotation) {
  return useMemo(() => {
    const widest = Math.max(1, ...pages.map((page) => turnedSize(page, rotation).width));
    const scale = (Math.max(200, width - PADDING) / widest) * zoom;
    return new Map(
      pages.map((page) => [
        page.number,
        { width: page.width * scale, height: page.height * scale },
      ]),
    );
  }, [pages, width, zoom, rotation]);
}

/** Returns the height of the first pages with what is above and between them. */
function heightOf(element: HTMLElement, count: number): number {
  const page = element.querySelectorAll('[data-page]').item(count - 1);
  const { top } = element.getBoundingClientRect();
  return page.getBoundingClientRect().bottom - top + element.scrollTop;
}

/**
 * Keeps what is in the middle of the pane there when the size of the pages changes. Further pages, which
 * are read later, change nothing.
 */
function useAnchoredZoom(
  scrollerRef: React.RefObject<HTMLElement | null>,
  sizes: ReadonlyMap<number, Size>,
) {
  const last = useRef({ count: 0, width: 1, height: 1 });
  useLayoutEffect(() => {
    const element = scrollerRef.current;
    if (!element || sizes.size === 0) return;
    const { scrollWidth, clientWidth, clientHeight } = element;
    const before = last.current;
    if (before.count > 0) {
      const middle = (element.scrollTop + clientHeight / 2) / before.height;
      const center = (element.scrollLeft + clientWidth / 2) / before.width;
      element.scrollTop = middle * heightOf(element, before.count) - clientHeight / 2;
      element.scrollLeft = center * scrollWidth - clientWidth / 2;
    }
    const height = heightOf(element, sizes.size);
    last.current = { count: sizes.size, width: scrollWidth, height };
  }, [scrollerRef, sizes]);
}

/** Lets the view scroll to a place of a page. */
function useReveal(scrollerRef: React.RefObject<HTMLElement | null>, rotation: Rotation) {
  const view = useView();
  useEffect(() => {
    const reveal = (number: number, box?: Box) => {
      const element = scrollerRef.current;
      const page = element?.querySelector<HTMLElement>(`[data-page="${number}"]`);
      if (!element || !page) return false;
      const frame = element.getBoundingClientRect();
      const own = page.getBoundingClientRect();
      const shown = box && turnBox(box, rotation);
      const top = own.top - frame.top + (shown ? shown[1] * own.height : 0);
      const left = own.left - frame.left + (shown ? shown[0] * own.width : 0);
      const isVisible = top > 20 && top < frame.height - 60 && left > 0 && left < frame.width;
      if (shown && isVisible) return true;
      const lead = shown ? frame.height / 3 : 8;
      element.scrollBy({ top: top - lead, left: shown ? left - frame.width / 3 : 0 });
      return true;
    };
    return view.connect({ reveal, focus: () => scrollerRef.current?.focus() });
  }, [view, scrollerRef, rotation]);
}

/** Follows the page in the middle of the pane, for the toolbar. */
function useCurrentPage(scrollerRef: React.RefObject<HTMLElement | null>) {
  const view = useView();
  const frame = useRef(0);
  const follow = () => {
    const element = scrollerRef.current;
    if (!element) return;
    const middle = element.getBoundingClientRect().top + element.clientHeight / 3;
    const pages = [...element.querySelectorAll<HTMLElement>('[data-page]')];
    const shown = pages.findLast((page) => page.getBoundingClientRect().top <= middle);
    const number = Number(shown?.dataset['page'] ?? 1);
    if (number !== view.state.page) view.set({ page: number });
  };
  return () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(follow);
  };
}

/** Shows the place of the active input's value when another input becomes active. */
function useFollowActive() {
  const editor = useEditor();
  const view = useView();
  useEffect(() => {
    let shown = editor.state.active;
    return editor.subscribe(() => {
      const { active, tags } = editor.state;
      if (active === shown) return;
      shown = active;
      if (!active) return;
      const siblings = tags.filter((tag) => tag.field === active.field && tag.row === active.row);
      view.showEvidence(siblings[active.index]?.evidence ?? []);
    });
  }, [editor, view]);
}

function Column({
  artifactId,
  pages,
  cursor,
  width,
}: {
  artifactId: string;
  pages: readonly DocumentPage[];
  cursor: WordCursor;
  width: number;
}) {
  const { t } = useTranslation('workflow/labeling');
  const scrollerRef = useRef<HTMLDivElement>(null);
  const rotation = useViewState((state) => state.rotation);
  const zoom = useViewState((state) => state.zoom);
  const sizes = useSizes(pages, width, zoom, rotation);
  useAnchoredZoom(scrollerRef, sizes);
  useReveal(scrollerRef, rotation);
  const panning = usePanning(scrollerRef);
  const cursorKeys = useCursorKeys(cursor);
  const onScroll = useCurrentPage(scrollerRef);
  return (
    <div
      ref={scrollerRef}
      className={classes.scroller}
      data-scroller
      role="application"
      aria-label={t('page.pane')}
      aria-describedby="page-cursor"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      onScroll={onScroll}
      {...panning}
      {...cursorKeys}
    >
      <div className={classes.column}>
        {pages.map((page) => (
          <PageView
            key={page.number}
            artifactId={artifactId}
            page={page}
            size={sizes.get(page.number) ?? page}
            rotation={rotation}
            cursor={cursor}
          />
        ))}
      </div>
    </div>
  );
}

/** The pages of the document, below each other. */
export function PagesPane({
  artifactId,
  query,
}: {
  artifactId: string;
  query: ReturnType<typeof usePages>;
}) {
  const { ref, width } = useElementSize();
  const merged = useMergedRef(ref);
  const cursor = useMemo(() => new WordCursor(), []);
  useEffect(() => {
    cursor.setPages(query.pages);
  }, [cursor, query.pages]);
  useFollowActive();
  return (
    <div
      ref={merged}
      style={{
        flex: 1,
        minWidth: 0,
        display: 'flex',
        flexDirection: 'column',
        position: 'relative',
      }}
    >
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <Loading />}
      {width > 0 && query.pages.length > 0 && (
        <Column artifactId={artifactId} pages={query.pages} cursor={cursor} width={width} />
      )}
      <CursorBar cursor={cursor} />
    </div>
  );
}
