/** The look: quiet and dense. Colours are changed where Mantine's miss the contrast of WCAG AA. */
import {
  createTheme,
  type CSSVariablesResolver,
  Modal,
  Notification,
  Table,
  Tooltip,
} from '@mantine/core';
import i18next from 'i18next';
import { currentFormat } from '@/kit/i18n/format';

/** Read whenever one is shown, because the language can change. */
const closeButtonProps = {
  get 'aria-label'() {
    return i18next.t('close');
  },
};

export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.5rem' },
      h2: { fontSize: '1.25rem' },
      h3: { fontSize: '1.125rem' },
      h4: { fontSize: '1rem' },
      h5: { fontSize: '0.875rem' },
      h6: { fontSize: '0.8125rem' },
    },
  },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Modal: Modal.extend({
      defaultProps: { centered: true, transitionProps: { duration: 80 } },
    }),
    // Read whenever one is shown, as above. Leading zeros would keep a number from being reported.
    NumberInput: {
      defaultProps: () => ({
        allowLeadingZeros: false,
        decimalSeparator: currentFormat().decimalSeparator(),
      }),
    },
    Notification: Notification.extend({ defaultProps: { closeButtonProps } }),
    Table: Table.extend({ defaultProps: { verticalSpacing: 6, highlightOnHover: true } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 400, withArrow: true } }),
  },
});

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-anchor': 'var(--mantine-color-blue-9)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-red-light': 'rgba(255, 107, 107, 0.14)',
    '--mantine-color-red-light-color': 'var(--mantine-color-red-2)',
  },
});
