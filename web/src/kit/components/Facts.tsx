import { Box, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Fact {
  label: string;
  value: ReactNode;
}

/** Names and values, in columns if there is room. Facts without a value are left out. */
export function Facts({ facts, cols = 3 }: { facts: readonly Fact[]; cols?: number }) {
  const shown = facts.filter(({ value }) => value !== null && value !== undefined);
  return (
    <SimpleGrid
      component="dl"
      m={0}
      cols={{ base: 1, xs: 2, md: cols }}
      spacing="md"
      verticalSpacing="xs"
    >
      {shown.map(({ label, value }) => (
        <div key={label}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Box component="dd" m={0} fz="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Box>
        </div>
      ))}
    </SimpleGrid>
  );
}
