import { CatchBoundary, type ErrorComponentProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from './ErrorAlert';

function PartError({ reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  return <ErrorAlert error={new Error(t('error.part'))} retry={reset} />;
}

/** A part of a page that may fail alone: what is around it stays, and with it what was typed there. */
export function Part({ children }: { children: ReactNode }) {
  return (
    <CatchBoundary getResetKey={() => 'part'} errorComponent={PartError}>
      {children}
    </CatchBoundary>
  );
}
