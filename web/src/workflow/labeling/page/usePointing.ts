import type { PointerEvent } from 'react';
import { type Point, type Rotation, unturnPoint } from './geometry';
import type { PagePointer } from './pointer';

function pointOf(event: PointerEvent<HTMLElement>, rotation: Rotation): Point {
  const frame = event.currentTarget.getBoundingClientRect();
  const x = (event.clientX - frame.left) / frame.width;
  const y = (event.clientY - frame.top) / frame.height;
  return unturnPoint({ x, y }, rotation);
}

/** Returns the handlers of a page that pass what the pointer does to `pointer`. */
export function usePointing(pointer: PagePointer, rotation: Rotation) {
  return {
    // The input that takes the words keeps the focus.
    onMouseDown: (event: React.MouseEvent) => event.preventDefault(),
    onPointerDown(event: PointerEvent<HTMLElement>) {
      if (event.button !== 0 || event.defaultPrevented) return;
      pointer.down(pointOf(event, rotation));
      // A finger scrolls, unless it draws a box.
      if (event.pointerType !== 'touch' || pointer.drawsBoxes)
        event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const { width, height } = event.currentTarget.getBoundingClientRect();
      pointer.move(pointOf(event, rotation), Math.max(width, height));
    },
    onPointerUp(event: PointerEvent<HTMLElement>) {
      pointer.up(event.shiftKey || event.ctrlKey || event.metaKey, event.altKey);
    },
    onPointerCancel: () => pointer.cancel(),
    onPointerLeave: () => pointer.leave(),
  };
}
