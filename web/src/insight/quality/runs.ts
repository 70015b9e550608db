import type { Schemas } from '@/kit/api/types';

export type Run = Schemas['QualityRunSummary'];

export const COEFFICIENTS = [
  'percent',
  'cohen_kappa',
  'fleiss_kappa',
  'krippendorff_alpha',
  'gwet_ac1',
  'f1',
  'f1_overlap',
  'iou',
] as const;

export type Coefficient = (typeof COEFFICIENTS)[number];

export function isActive(run: Run): boolean {
  return run.status === 'queued' || run.status === 'running';
}

/** Returns the share that is done, in percent; undefined as long as the total is not known. */
export function doneShare({ progress }: Run): number | undefined {
  if (progress.total === null || progress.total === 0) return undefined;
  return Math.round((100 * progress.done) / progress.total);
}

interface Result {
  metric: string;
  value: number | null;
}

/** Returns the coefficients of the results, in their usual order. */
export function listCoefficients(results: readonly Result[]): Coefficient[] {
  return COEFFICIENTS.filter((metric) => results.some((result) => result.metric === metric));
}

/** Returns the coefficient to begin with: one that allows for chance, if there is a value of it. */
export function chooseCoefficient(results: readonly Result[]): Coefficient | undefined {
  const known = results.filter(({ value }) => value !== null);
  const wanted = ['krippendorff_alpha', 'fleiss_kappa', 'cohen_kappa', 'f1', 'percent'] as const;
  return (
    wanted.find((metric) => known.some((result) => result.metric === metric)) ??
    listCoefficients(results)[0]
  );
}
