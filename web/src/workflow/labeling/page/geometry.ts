/** Boxes on pages: [x0, y0, x1, y1] in 0..1 from the top left, as the API has them. */

export type Box = readonly [number, number, number, number];
export type Rotation = 0 | 90 | 180 | 270;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export function toBox(numbers: readonly number[] | null | undefined): Box | undefined {
  const [x0, y0, x1, y1] = numbers ?? [];
  return x0 === undefined || y0 === undefined || x1 === undefined || y1 === undefined
    ? undefined
    : [x0, y0, x1, y1];
}

/** The box between two points in any order, inside of the page. */
export function boxBetween(one: Point, other: Point): Box {
  const clamp = (value: number) => Math.min(1, Math.max(0, value));
  return [
    clamp(Math.min(one.x, other.x)),
    clamp(Math.min(one.y, other.y)),
    clamp(Math.max(one.x, other.x)),
    clamp(Math.max(one.y, other.y)),
  ];
}

export function joinBoxes(boxes: readonly Box[]): Box {
  return [
    Math.min(...boxes.map((box) => box[0])),
    Math.min(...boxes.map((box) => box[1])),
    Math.max(...boxes.map((box) => box[2])),
    Math.max(...boxes.map((box) => box[3])),
  ];
}

export function contains(box: Box, point: Point): boolean {
  return point.x >= box[0] && point.x <= box[2] && point.y >= box[1] && point.y <= box[3];
}

export function centerOf(box: Box): Point {
  return { x: (box[0] + box[2]) / 2, y: (box[1] + box[3]) / 2 };
}

/** The API takes numbers in 0..1; more digits than a thousandth of a point say nothing. */
export function roundBox(box: Box): number[] {
  return box.map((number) => Math.round(number * 1e6) / 1e6);
}

export function turn(rotation: Rotation, by: 90 | -90): Rotation {
  return ((rotation + by + 360) % 360) as Rotation;
}

/** The size of a page after it was turned. */
export function turnedSize(size: Size, rotation: Rotation): Size {
  return rotation % 180 === 0 ? size : { width: size.height, height: size.width };
}

/** The point of the page that is shown at a point (0..1) of the turned page. */
export function unturnPoint({ x, y }: Point, rotation: Rotation): Point {
  switch (rotation) {
    case 0:
      return { x, y };
    case 90:
      return { x: y, y: 1 - x };
    case 180:
      return { x: 1 - x, y: 1 - y };
    case 270:
      return { x: 1 - y, y: x };
  }
}

/** Where a point of the page is shown when the page is turned: the reverse of `unturnPoint`. */
export function turnPoint({ x, y }: Point, rotation: Rotation): Point {
  switch (rotation) {
    case 0:
      return { x, y };
    case 90:
      return { x: 1 - y, y: x };
    case 180:
      return { x: 1 - x, y: 1 - y };
    case 270:
      return { x: y, y: 1 - x };
  }
}

export function turnBox(box: Box, rotation: Rotation): Box {
  return boxBetween(
    turnPoint({ x: box[0], y: box[1] }, rotation),
    turnPoint({ x: box[2], y: box[3] }, rotation),
  );
}

/** The widths that images are asked for: few, so that the service and the browser can keep them. */
const WIDTHS = [600, 1200, 1800, 2400, 3600] as const;

export function imageWidth(pixels: number): number {
  return WIDTHS.find((width) => width >= pixels) ?? 3600;
}
