import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { House } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';

export const homeRoute = createRoute({
    getParentRoute: () => workRoute,
    path: '/',
    component: lazyRouteComponent(() => import('./HomePage'), 'HomePage'),
});

export const routes = [homeRoute] as const;

export const navigation: NavigationItem[] = [
    { to: '/', label: 'home', icon: House, group: 'work' },
];
