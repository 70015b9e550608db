import { Group } from '@mantine/core';
import { StatusCell } from '@/delivery/exports';
import type { Schemas } from '@/kit/api/types';
import { Relative } from '@/kit/components/Relative';

/** The state of a run, and when it began. */
export function RunStatus({ run }: { run: Schemas['ScheduledExportRun'] }) {
  return (
    <Group gap={6}>
      <StatusCell job={run} />
      <Relative value={run.finished_at ?? run.created_at} />
    </Group>
  );
}
