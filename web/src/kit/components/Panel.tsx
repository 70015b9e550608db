import { Paper } from '@mantine/core';
import { Section, type SectionProps } from './Section';

/** A part of a page with a heading of its own, in a frame. */
export function Panel(props: SectionProps) {
  return (
    <Paper withBorder p="md" miw={0}>
      <Section {...props} />
    </Paper>
  );
}
