/** Colours of lines and bars, which differ in lightness as well; dashes tell the rest apart. */
export const COLORS = [
  'blue.7',
  'orange.7',
  'teal.7',
  'grape.7',
  'red.7',
  'cyan.6',
  'lime.8',
  'pink.5',
] as const;

export const DASHES = ['0', '6 3', '2 3', '8 3 2 3'] as const;

export function lineStyle(index: number): { color: string; strokeDasharray: string } {
  return {
    color: COLORS[index % COLORS.length] ?? COLORS[0],
    strokeDasharray: DASHES[index % DASHES.length] ?? '0',
  };
}
