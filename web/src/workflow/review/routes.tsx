import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ClipboardCheck } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { WIDE } from '@/kit/shell/room';

const FLAGS = ['low_confidence', 'disagreement', 'resubmitted'] as const;
export type Flag = (typeof FLAGS)[number];

/** The filters of the queue, as the address has them. */
export interface QueueSearch {
  schema?: string;
  labeler?: string;
  flag?: Flag;
  mine?: boolean;
  escalated?: boolean;
  cursor?: string;
}

function readSearch(raw: Record<string, unknown>): QueueSearch {
  const text = (name: string) => (typeof raw[name] === 'string' ? { [name]: raw[name] } : {});
  const flag = FLAGS.find((one) => one === raw['flag']);
  return {
    ...text('schema'),
    ...text('labeler'),
    ...text('cursor'),
    ...(flag ? { flag } : {}),
    ...(raw['mine'] === true ? { mine: true } : {}),
    ...(raw['escalated'] === true ? { escalated: true } : {}),
  };
}

const queueRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/review',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./QueuePage'), 'QueuePage'),
});

/** Claims the next item and opens it. */
const nextRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/review/next',
  component: lazyRouteComponent(() => import('./NextReviewPage'), 'NextReviewPage'),
});

const itemRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/review/$itemId',
  staticData: WIDE,
  component: lazyRouteComponent(() => import('./ReviewPage'), 'ReviewPage'),
});

const mergeRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/review/merge/$artifactId',
  staticData: WIDE,
  component: lazyRouteComponent(() => import('./MergePage'), 'MergePage'),
});

export const routes = [queueRoute, nextRoute, mergeRoute, itemRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/review',
    label: 'review',
    icon: ClipboardCheck,
    group: 'work',
    permission: 'review_queue:read',
  },
];
