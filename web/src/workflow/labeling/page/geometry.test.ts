import { describe, expect, test } from 'vitest';
import {
  boxBetween,
  imageWidth,
  type Rotation,
  turn,
  turnBox,
  turnedSize,
  turnPoint,
  unturnPoint,
} from './geometry';

const ROTATIONS: Rotation[] = [0, 90, 180, 270];

describe('rotation', () => {
  test.each(ROTATIONS)('a point turned by %d and back is itself', (rotation) => {
    const point = { x: 0.2, y: 0.7 };
    const back = unturnPoint(turnPoint(point, rotation), rotation);
    expect(back.x).toBeCloseTo(point.x);
    expect(back.y).toBeCloseTo(point.y);
  });

  test('turned clockwise, the top left corner is at the top right', () => {
    expect(turnPoint({ x: 0, y: 0 }, 90)).toEqual({ x: 1, y: 0 });
    expect(turnBox([0, 0, 0.5, 0.1], 90)).toEqual([0.9, 0, 1, 0.5]);
  });

  test('a page on its side changes width and height', () => {
    expect(turnedSize({ width: 2, height: 3 }, 270)).toEqual({ width: 3, height: 2 });
    expect(turn(270, 90)).toBe(0);
    expect(turn(0, -90)).toBe(270);
  });
});

test('boxBetween takes the corners in any order and stays on the page', () => {
  expect(boxBetween({ x: 0.5, y: 1.2 }, { x: -0.1, y: 0.4 })).toEqual([0, 0.4, 0.5, 1]);
});

test('imageWidth asks for few sizes', () => {
  expect([500, 1000, 1201, 9999].map(imageWidth)).toEqual([600, 1200, 1800, 3600]);
});
