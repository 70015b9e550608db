import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Split } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';

export const rulesRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/routing',
  component: lazyRouteComponent(() => import('./list/RulesPage'), 'RulesPage'),
});

export const newRuleRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/routing/new',
  component: lazyRouteComponent(() => import('./rule/NewRulePage'), 'NewRulePage'),
});

export const ruleRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/routing/$ruleId',
  component: lazyRouteComponent(() => import('./rule/RulePage'), 'RulePage'),
});

export const routes = [rulesRoute, newRuleRoute, ruleRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/routing',
    label: 'routing',
    icon: Split,
    group: 'content',
    permission: 'routing_rules:read',
  },
];
