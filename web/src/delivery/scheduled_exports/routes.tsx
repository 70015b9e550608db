import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';

export const schedulesRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/exports/schedules',
  validateSearch: (search: Record<string, unknown>) =>
    compact({ cursor: readText(search, 'cursor') }),
  component: lazyRouteComponent(() => import('./SchedulesPage'), 'SchedulesPage'),
});

export const newScheduleRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/exports/schedules/new',
  component: lazyRouteComponent(() => import('./EditPages'), 'NewSchedulePage'),
});

export const scheduleRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/exports/schedules/$scheduleId',
  validateSearch: (search: Record<string, unknown>) =>
    compact({ cursor: readText(search, 'cursor') }),
  component: lazyRouteComponent(() => import('./SchedulePage'), 'SchedulePage'),
});

export const editScheduleRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/exports/schedules/$scheduleId/edit',
  component: lazyRouteComponent(() => import('./EditPages'), 'EditSchedulePage'),
});

export const routes = [schedulesRoute, newScheduleRoute, scheduleRoute, editScheduleRoute] as const;
