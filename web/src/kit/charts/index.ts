/** Charts: their library is loaded when a page first shows one. */
import { lazy } from 'react';

export { ChartPanel } from './ChartPanel';
export type { Line } from './Lines';

export const LazyLines = lazy(() => import('./Lines').then(({ Lines }) => ({ default: Lines })));
export const LazyBars = lazy(() => import('./Bars').then(({ Bars }) => ({ default: Bars })));
