/** The colours of fields: the same on the page, in the text and beside the field. */
export const HUES = [212, 28, 145, 280, 350, 185, 48, 322] as const;

export function colorOf(position: number, alpha: number): string {
  const hue = HUES[position % HUES.length] ?? 212;
  return `hsl(${hue} 75% 42% / ${alpha})`;
}
