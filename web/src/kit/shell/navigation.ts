/** What features put into the shell. The registry (`routes.tsx`) sets it once. */
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { Permission } from '@/kit/session/may';
import type kit from '../texts.en.json';

export interface NavigationItem {
  /** The path of the page, without the organization. */
  to: string;
  /** A key below `navigation` in kit/texts.*.json. */
  label: keyof typeof kit.navigation;
  icon: LucideIcon;
  group: keyof typeof kit.navigation_groups;
  /** Without it, every member sees the item. */
  permission?: Permission;
}

export interface ShellParts {
  navigation: readonly NavigationItem[];
  /** Components at the right end of the header, such as the bell. */
  header: readonly ComponentType[];
  /** Pages in the menu of the user. */
  account: readonly Omit<NavigationItem, 'group' | 'permission'>[];
}

let parts: ShellParts = { navigation: [], header: [], account: [] };

export function setShellParts(next: ShellParts): void {
  parts = next;
}

export function shellParts(): ShellParts {
  return parts;
}

export const GROUPS = ['work', 'content', 'data', 'insight', 'settings'] as const;
