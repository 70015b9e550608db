import { type PointerEvent, type RefObject, useEffect, useRef } from 'react';
import { useView } from './view';

/** Moves the pages with the middle button, or with the space bar held; Ctrl and the wheel zoom. */
export function usePanning(scrollerRef: RefObject<HTMLElement | null>) {
  const view = useView();
  const isSpaceDown = useRef(false);
  const from = useRef<{ x: number; y: number }>(undefined);

  useEffect(() => {
    const element = scrollerRef.current;
    if (!element) return;
    const isTyping = () =>
      document.activeElement?.matches('input, textarea, select, button, [role=option]');
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== ' ' || (event.type === 'keydown' && isTyping())) return;
      isSpaceDown.current = event.type === 'keydown';
      if (isSpaceDown.current) event.preventDefault();
    };
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      view.zoomTo(view.state.zoom * Math.exp(-event.deltaY / 300));
    };
    window.addEventListener('keydown', onKey);
    window.addEventListener('keyup', onKey);
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => {
      window.removeEventListener('keydown', onKey);
      window.removeEventListener('keyup', onKey);
      element.removeEventListener('wheel', onWheel);
    };
  }, [scrollerRef, view]);

  const end = () => {
    from.current = undefined;
    scrollerRef.current?.removeAttribute('data-panning');
  };
  return {
    onPointerDownCapture(event: PointerEvent<HTMLElement>) {
      if (event.button !== 1 && !(event.button === 0 && isSpaceDown.current)) return;
      event.preventDefault();
      event.stopPropagation();
      from.current = { x: event.clientX, y: event.clientY };
      event.currentTarget.setPointerCapture(event.pointerId);
      event.currentTarget.setAttribute('data-panning', '');
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      if (!from.current) return;
      event.currentTarget.scrollBy(from.current.x - event.clientX, from.current.y - event.clientY);
      from.current = { x: event.clientX, y: event.clientY };
    },
    onPointerUp: end,
    onPointerCancel: end,
  };
}
