const LARGE = 0.25;
const MODERATE = 0.1;

/** By convention of the population stability index. */
export function nameEffect(effect: number): 'large' | 'moderate' | 'small' {
  if (effect >= LARGE) return 'large';
  return effect >= MODERATE ? 'moderate' : 'small';
}

/** Returns whether the values of both samples are shares. */
export function isShare(metric: string, category: string | null): boolean {
  return (
    category !== null ||
    metric.endsWith('_rate') ||
    metric === 'accuracy' ||
    metric === 'confidence'
  );
}
